/**
 * Node opens its debugger on SIGUSR1, which shows every secret and runs whatever it is sent. A handler of one's own
 * takes the signal instead. To be imported first. Newer versions of Node also know `--disable-sigusr1`.
 */
process.on('SIGUSR1', () => undefined)
