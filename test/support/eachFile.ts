/** Runs before each test file, shared process or not. */
import { Agent, setGlobalDispatcher } from 'undici'
import { afterAll } from 'vitest'
import { removeLeftovers } from './leftovers.js'

/**
 * `fetch` of the tests takes a new connection for each request. An HTTP server of Node's cuts a kept one after five
 * idle seconds, and a test that stood still meanwhile would write its next request into what is no longer there.
 */
setGlobalDispatcher(new Agent({ pipelining: 0 }))

afterAll(removeLeftovers)
