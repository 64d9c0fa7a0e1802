let isClosed = false
process.stdout.once('error', () => {
	isClosed = true
})

/** Whether the reader of standard output has closed the pipe (`| head`); `destroyed` of the stream stays false then. */
export function isUnread(): boolean {
	return isClosed
}
