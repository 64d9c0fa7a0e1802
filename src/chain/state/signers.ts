/** Finds the signers of EIP-7702 authorisations. An attacker can put thousands of them into one block. */

import { nextSlice } from '../../base/waits/slices.js'
import type { Signed } from '../../model/books.js'
import type { Address } from '../../model/glossary.js'
import { address, isObject, quantity } from '../wire/wire.js'

/** An authorisation before its signer is known. */
export interface Tuple extends Pick<Signed, 'delegate' | 'chainId' | 'nonce'> {
	readonly to: Address
	readonly r: bigint
	readonly s: bigint
	readonly yParity: number
}

export interface Signers {
	/** Starts a reading. `most`: how many signers it recovers at most. Default: 1,000. */
	reading(most?: number): SignerReading
}

export interface SignerReading {
	/** Null: the signature is invalid. Undefined: the allowance is spent. */
	signerOf(tuple: Tuple): Promise<Address | null | undefined>
}

export type Recover = (tuple: Tuple) => Address | null

/** Half of the order of secp256k1: a higher s is not valid (EIP-2). */
const MOST_S = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
const MOST_NONCE = 2n ** 64n - 2n

/** For one reading of a block. A recovery takes 1 to 2 ms; 60 million gas hold 2,400 authorisations. */
const mostRecovered = 1_000
/** Recoveries before the event loop is yielded. */
const RECOVERED_AT_ONCE = 4
/** Kept for later readings of the same block: four full readings. */
const MOST_REMEMBERED = 4 * mostRecovered

/** Null where the authorisation is invalid on this chain for any signer. Needs no recovery. */
export function tupleIn(entry: unknown, chainId: number): Tuple | null {
	if (!isObject(entry)) return null
	const forChain = quantity(entry.chainId)
	const nonce = quantity(entry.nonce)
	const to = address(entry.address)
	const yParity = quantity(entry.yParity ?? entry.v)
	const [r, s] = [quantity(entry.r), quantity(entry.s)]
	if (forChain === null || nonce === null || to === null || yParity === null || r === null || s === null) return null
	if ((forChain !== 0n && forChain !== BigInt(chainId)) || yParity > 1n || s > MOST_S || nonce > MOST_NONCE) return null
	return { to, delegate: BigInt(to) === 0n ? null : to, chainId: forChain, nonce, r, s, yParity: Number(yParity) }
}

/** `recover` is replaced in tests that count recoveries. */
export function createSigners(recover?: Recover): Signers {
	const known = new Map<string, Address | null>()
	return {
		reading(most = mostRecovered) {
			let recovered = 0
			return {
				async signerOf(tuple) {
					const { to, chainId, nonce, r, s, yParity } = tuple
					const key = [to, chainId, nonce, r, s, yParity].join(' ')
					const before = known.get(key)
					if (before !== undefined) return before
					if (recovered >= most) return undefined
					recovered++
					if (recovered % RECOVERED_AT_ONCE === 0) await nextSlice()
					const signer = (recover ?? (await loaded()))(tuple)
					if (known.size >= MOST_REMEMBERED) known.clear()
					known.set(key, signer)
					return signer
				},
			}
		},
	}
}

/** The curve, and 4 MB of word lists with it, are loaded for the first signer; most processes never need them. */
async function loaded(): Promise<Recover> {
	const [Authorization, Secp256k1] = await Promise.all([import('ox/Authorization'), import('ox/Secp256k1')])
	return ({ to, chainId, nonce, r, s, yParity }) => {
		const payload = Authorization.getSignPayload({ address: to, chainId: Number(chainId), nonce })
		try {
			const signature = { r: hexOf32(r), s: hexOf32(s), yParity }
			return Secp256k1.recoverAddress({ payload, signature }).toLowerCase() as Address
		} catch {
			return null
		}
	}
}

function hexOf32(number: bigint): `0x${string}` {
	return `0x${number.toString(16).padStart(64, '0')}`
}
