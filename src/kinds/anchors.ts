/** The second parts of ids, as sources of regular expressions. */
export const anchors = {
	/** The hash of a transaction or a block. */
	hash: '0x[0-9a-f]{64}',
	block: '\\d{1,15}',
	blocks: '\\d{1,15}-\\d{1,15}',
} as const
