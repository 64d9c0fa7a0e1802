import type { AlertData } from '../../model/alert.js'

/** The asset in one word. Any token can claim any symbol: an unknown one's is quoted and followed by its contract. */
export function assetInWord({ asset, token }: Pick<AlertData, 'asset' | 'token'>): string {
	if (token === undefined || token.known) return asset ?? ''
	return token.symbol === null ? `unknown ${token.address}` : `unknown "${token.symbol}" ${token.address}`
}
