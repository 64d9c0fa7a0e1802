// The tables of the last whole run once more, after what they look like has changed.
import { readFileSync } from 'node:fs'
import { fillDocument, resultsPath } from './document.js'

fillDocument(JSON.parse(readFileSync(resultsPath, 'utf8')))
