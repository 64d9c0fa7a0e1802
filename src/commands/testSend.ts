import type { Outcome } from '../model/delivery.js'
import { createReceiver, type ReceiverSettings } from '../notify/receiver.js'
import { sampleDeliveries } from '../notify/text/sample.js'
import { version } from '../version.js'
import { type Command, configOption, type ExitCode, exitCodes, type Io, paragraphs } from './command.js'
import { named } from './shared/network.js'
import { openConfig } from './shared/openConfig.js'
import { whileWaiting } from './shared/progress.js'

export const testSend: Command = {
	declare: (command) =>
		command
			.description(
				paragraphs(`Sends one sample alert to the receiver on the same path as a real one, once, and says what
came of it. The message is marked as a test and its transaction is invented.`),
			)
			.argument('<receiver>', 'its name in the configuration')
			.option(...configOption),
	async run(args, io) {
		const config = await openConfig(args, io)
		const settings = named('receiver', args.positionals[0], config.receivers)
		const { name } = settings
		const { code, lines } = await whileWaiting(
			() => `sending to \`${name}\``,
			() => sendSample(settings, io),
		)
		for (const line of lines) io.out(line)
		return code
	},
}

/** Sends one sample alert to each recipient of the receiver. */
export async function sendSample(
	settings: ReceiverSettings,
	{ signal }: Pick<Io, 'signal'>,
): Promise<{ readonly code: ExitCode; readonly lines: readonly string[] }> {
	const receiver = await createReceiver(settings, { version, clock: Date.now })
	try {
		let code: ExitCode = exitCodes.done
		const lines: string[] = []
		for (const delivery of sampleDeliveries(receiver, Date.now())) {
			const { recipient } = delivery
			const to = recipient === null ? `\`${receiver.name}\`` : `\`${receiver.name}\` (${recipient})`
			const outcome = await receiver.deliver(delivery, signal)
			lines.push(inWords(to, outcome))
			if (outcome.result === 'retry' && code === exitCodes.done) code = exitCodes.tryAgain
			if (outcome.result === 'parked' || outcome.result === 'dead') code = exitCodes.failed
		}
		return { code, lines }
	} finally {
		await receiver.close()
	}
}

function inWords(to: string, outcome: Outcome): string {
	switch (outcome.result) {
		case 'delivered':
			return `delivered to ${to}`
		case 'retry':
			return `not delivered to ${to}: ${outcome.reason}; a real alert would be tried again`
		case 'parked':
			return `not delivered to ${to}: ${outcome.reason}; a real alert would wait until this is fixed`
		case 'dead':
			return `refused by ${to}: ${outcome.reason}`
	}
}
