/** Runs before each test file, shared process or not. */
import { afterAll } from 'vitest'
import { removeLeftovers } from './leftovers.js'

afterAll(removeLeftovers)
