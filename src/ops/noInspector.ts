/**
 * On SIGUSR1 Node opens its debugger, which shows every secret and runs any code. This handler replaces that. Must be
 * imported first. Newer versions of Node also have `--disable-sigusr1`.
 */
process.on('SIGUSR1', () => undefined)
