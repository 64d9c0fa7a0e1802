/** Runs before each test file, shared process or not. */
import fc from 'fast-check'
import { Agent, setGlobalDispatcher } from 'undici'
import { afterAll } from 'vitest'
import { removeLeftovers } from './leftovers.js'
import { fuzzSeed } from './longRun.js'

/**
 * `fetch` of the tests takes a new connection for each request. An HTTP server of Node's cuts a kept one after five
 * idle seconds, and a test that stood still meanwhile would write its next request into what is no longer there.
 */
setGlobalDispatcher(new Agent({ pipelining: 0 }))

if (fuzzSeed !== null) fc.configureGlobal({ seed: fuzzSeed })

afterAll(removeLeftovers)
