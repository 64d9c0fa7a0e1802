/** Keys of earlier versions, without the section that they stood in: what to do instead. */
const removedKeys = new Map(
	Object.entries({
		abi: 'was removed: write functions in `calls` by signature, such as "sweep(address to)", or by selector',
		chat_id: 'was removed: write it into `url`, https://api.telegram.org/bot<token>/sendMessage?chat_id=<id>',
		outgoing: 'was removed: delete it; what leaves a watch is always sent at once',
		lease: 'was removed: delete it; another instance takes over after 30 s without a sign of life',
		log_proof: 'was removed: delete it; what `log_proof: auto` chose is always used',
		max_answer: 'was removed: delete it; one answer may have at most 1 GB',
		max_pending: 'was removed: delete it; at most 10000 deliveries of a network may wait for a receiver',
		silences: 'was removed: use the quiet hours of your receiver',
		token_list: 'was removed: name the tokens in `tokens` of the network',
		topic: 'was removed: write it into `url`, https://ntfy.sh/<topic>',
	}),
)

/** What to do instead of a removed key; null for any other key. */
export function removedKey(key: string): string | null {
	const words = removedKeys.get(key)
	return words === undefined ? null : `\`${key}\` ${words}`
}
