/**
 * A signal says how urgent its work is: calls under a patient signal let others overtake them. Signals derived from it
 * are patient, too.
 */

const patient = new WeakSet<AbortSignal>()

export function makePatient(signal: AbortSignal): void {
	patient.add(signal)
}

export function isPatient(signal: AbortSignal): boolean {
	return patient.has(signal)
}
