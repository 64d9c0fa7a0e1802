#!/usr/bin/env node
// The door. It and what it imports are understood by Node 12 too: who comes with an older one than the program needs is
// told so in a sentence, and not by whatever it stumbles upon first.
import './ops/noInspector.js'

import { nodeRefusal } from './version.js'

const refusal = nodeRefusal(process.versions.node)
if (refusal === null) void import('./main.js')
else {
	console.error(refusal)
	// As for a wrong configuration: a service manager does not try it again and again.
	process.exitCode = 78
}
