/** How the person calls the program, for the commands that it suggests: in a clone there is only `npx tracewatch`. */
export function calledAs(env: NodeJS.ProcessEnv): string {
	return env.npm_command === 'exec' ? 'npx tracewatch' : 'tracewatch'
}
