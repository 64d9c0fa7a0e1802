// The manual page and the completions of shells, made of what the commands say of themselves. Needs `npm run build`.
import { Command } from 'commander'
import { commands } from '../dist/commands/commandLine.js'

/** Every command, in the order of their names. */
export async function readCommands() {
	const named = Object.entries(commands).sort(([a], [b]) => (a < b ? -1 : 1))
	return await Promise.all(
		named.map(async ([name, { summary, load }]) => {
			const command = (await load()).declare(new Command('tracewatch').command(name))
			const help = command.configureOutput({ getOutHelpWidth: () => 80 }).helpInformation()
			return { name, summary, help: help.trimEnd(), options: command.options }
		}),
	)
}

/** A page for man(1). */
export function manPage(commands, version) {
	const lines = [
		`.TH TRACEWATCH 1 "" "tracewatch ${version}" "User Commands"`,
		'.SH NAME',
		'tracewatch \\- tells you when a watched address sends or receives coins or deploys a contract',
		'.SH SYNOPSIS',
		'.B tracewatch',
		'\\fIcommand\\fR [\\-c \\fItracewatch.yaml\\fR] [\\fIoptions\\fR]',
		'.SH COMMANDS',
		...commands.flatMap(({ name, summary }) => ['.TP', `.B ${roff(name)}`, roff(summary)]),
		'.SH DETAILS',
		...commands.flatMap(({ name, help }) => [`.SS ${roff(name)}`, '.nf', ...help.split('\n').map(roff), '.fi']),
		'.SH FILES',
		'.TP',
		'.I /etc/tracewatch/tracewatch.yaml',
		'the configuration, unless \\-c names another or the working folder has one',
		'.TP',
		'.I /etc/tracewatch/watchlists',
		'what is watched; saving a file takes effect by itself',
		'.TP',
		'.I /etc/tracewatch/secrets/NAME',
		'a secret, ${NAME} in the configuration; mode 0600',
		'.SH EXIT STATUS',
		'0 done, 1 failed, 2 wrong usage, 75 try again later (nothing is lost), 78 the configuration is wrong.',
	]
	return `${lines.join('\n')}\n`
}

/** A text as roff takes it literally. */
function roff(text) {
	const safe = text.replaceAll('\\', '\\e').replaceAll('-', '\\-')
	return /^[.']/.test(safe) ? `\\&${safe}` : safe
}

/** For bash-completion. */
export function bashCompletion(commands) {
	const cases = commands.map(({ name, options }) => `\t${name}) words="${optionsOf(options).join(' ')}" ;;`)
	return `# bash completion of tracewatch
_tracewatch() {
	local words="${commands.map(({ name }) => name).join(' ')} --help --version"
	if [ "$COMP_CWORD" -gt 1 ]; then
		case "\${COMP_WORDS[1]}" in
${cases.join('\n').replaceAll(/^/gm, '\t')}
		*) words="" ;;
		esac
	fi
	case "\${COMP_WORDS[COMP_CWORD - 1]}" in
	-c | --config)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
		return
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _tracewatch tracewatch
`
}

/** For zsh. */
export function zshCompletion(commands) {
	const quote = (text) => text.replaceAll("'", "'\\''").replaceAll(':', '\\:')
	const cases = commands.map(
		({ name, options }) =>
			`\t${name}) compadd -- ${optionsOf(options).join(' ')}; [[ $words[CURRENT] == -* ]] || _files ;;`,
	)
	return `#compdef tracewatch
if ((CURRENT == 2)); then
	local -a commands=(
${commands.map(({ name, summary }) => `\t\t'${name}:${quote(summary)}'`).join('\n')}
	)
	_describe command commands
	return
fi
case $words[2] in
${cases.join('\n')}
esac
`
}

function optionsOf(options) {
	return ['--help', ...options.flatMap(({ long, short }) => [long, ...(short ? [short] : [])])]
}
