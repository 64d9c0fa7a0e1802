#!/usr/bin/env node
// The entry point. This file and its imports must run on Node 12, so that users of an old Node get a clear message
// instead of a syntax error.
import './ops/noInspector.js'

import { nodeRefusal } from './version.js'

const refusal = nodeRefusal(process.versions.node)
if (refusal === null) void import('./main.js')
else {
	console.error(refusal)
	// The exit code of a wrong configuration, so that a service manager does not restart the program.
	process.exitCode = 78
}
