import { expect, test } from 'vitest'
import { createUnanswered } from '../../../src/daemon/polling/unanswered.js'

test('default: the endpoint that failed last is named, with its failure, until it answers', () => {
	const { ended, words } = createUnanswered()
	expect(words()).toBeNull()
	ended({ endpoint: 'a.example.org', result: 'timeout' })
	ended({ endpoint: 'b.example.org:8545', result: 'rate' })
	expect(words()).toBe('a.example.org does not answer, b.example.org:8545 answers with rate limits (429)')
	ended({ endpoint: 'a.example.org', result: 'aborted' })
	ended({ endpoint: 'b.example.org:8545', result: 'ok' })
	expect(words()).toBe('a.example.org does not answer')
	ended({ endpoint: 'a.example.org', result: 'malformed' })
	expect(words()).toBe('a.example.org gives no good answer')
	ended({ endpoint: 'a.example.org', result: 'ok' })
	expect(words()).toBeNull()
})
