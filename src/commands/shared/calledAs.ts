import { resolve } from 'node:path'

/** How the person calls the program, for the commands that it suggests: a clone has no `tracewatch` on its path. */
export function calledAs(env: NodeJS.ProcessEnv): string {
	if (env.npm_command === 'exec') return 'npx tracewatch'
	return process.argv[1] === resolve('dist/cli.js') ? 'node dist/cli.js' : 'tracewatch'
}
