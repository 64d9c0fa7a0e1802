/** What every page uses: its look, and the one script, which the pages do without. */

export const style = `
:root { color-scheme: light dark; --text: #1b1f24; --quiet: #57606a; --back: #ffffff; --lift: #f3f5f7; --line: #c6ccd2;
	--link: #0a4fa3; --well: #116329; --ill: #a40e26; --waits: #7a4d00; --bar: #2f6fb5; }
@media (prefers-color-scheme: dark) {
	:root { --text: #e8ebee; --quiet: #a7b0ba; --back: #14181d; --lift: #1e242b; --line: #46505b;
		--link: #8bbcff; --well: #6fd48a; --ill: #ff9aa5; --waits: #f0c36a; --bar: #6aa6ea; }
}
* { box-sizing: border-box; }
html { font: 16px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back); }
body { margin: 0 auto; max-width: 90rem; padding: 0 1rem 2rem; }
a { color: var(--link); text-underline-offset: .15em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .5rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
header { display: flex; flex-wrap: wrap; gap: .25rem 2rem; align-items: baseline; }
.name { font-weight: 700; margin: .75rem 0; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0; padding: 0; }
nav a { display: inline-block; padding: .25rem 0; }
nav a[aria-current] { font-weight: 700; text-decoration-thickness: 3px; }
.health { flex-basis: 100%; margin: .5rem 0 1rem; padding: .6rem .8rem; border-left: .4rem solid;
	background: var(--lift); font-weight: 600; overflow-wrap: anywhere; }
.well { color: var(--well); } .ill { color: var(--ill); } .waits { color: var(--waits); }
.mark { font-weight: 600; white-space: nowrap; } time span:not(.local) { white-space: nowrap; }
.trouble { display: block; padding-left: 1rem; text-indent: -1rem; } .trouble::before { content: '• '; }
h1 { font-size: 1.5rem; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 1.5rem 0 .5rem; }
small, .quiet { color: var(--quiet); font-size: .875rem; }
code { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--line);
	overflow-wrap: anywhere; min-width: 4.5rem; }
thead th { color: var(--quiet); font-weight: 600; overflow-wrap: normal; }
tbody th { font-weight: 600; min-width: 6.5rem; }
.whole { white-space: nowrap; }
.alarm { color: var(--ill); border-left: .4rem solid; padding-left: .5rem; display: inline-block; }
tbody th small { display: block; font-weight: 400; }
.chart { margin: 0 0 1rem; } .chart svg { display: block; width: 100%; height: 4rem; background: var(--lift); }
.chart rect { fill: var(--bar); } .chart line { stroke: var(--line); }
figcaption { margin-bottom: .25rem; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; background: var(--lift); padding: .75rem;
	margin: .75rem 0; }
.filters p { margin: 0; } .filters label { display: block; font-size: .875rem; color: var(--quiet); }
input, select, button { font: inherit; color: var(--text); background: var(--back); border: 1px solid var(--quiet);
	border-radius: .25rem; padding: .35rem .5rem; max-width: 100%; min-height: 2.25rem; }
button { cursor: pointer; }
.alerts { list-style: none; margin: 0; padding: 0; }
.alerts > li { border-bottom: 1px solid var(--line); padding: .5rem 0; }
.alerts h2 { margin: 0; font-size: 1.05rem; overflow-wrap: anywhere; }
.alerts p { margin: .15rem 0; } .sent { margin: .25rem 0; padding-left: 1.25rem; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--link); display: inline-block; padding: .2rem 0; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; margin: .5rem 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.pager { display: flex; gap: 1.5rem; margin: 1rem 0; } .pager a { padding: .35rem 0; }
.local { color: var(--quiet); }
footer { margin-top: 2rem; border-top: 1px solid var(--line); }
@media (max-width: 72rem) {
	thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
	table, tbody, tr, tbody th, td { display: block; width: 100%; }
	tr { border: 1px solid var(--line); margin-bottom: .75rem; padding: .35rem .5rem; }
	th, td { border: 0; padding: .15rem .1rem; }
	td::before { content: attr(data-name) ": "; color: var(--quiet); }
	td:empty { display: none; }
	dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: .35rem; }
}
@media (forced-colors: active) { .chart rect { fill: CanvasText; } }
`.trimStart()

export const script = `'use strict';
// Refreshes in place what is marked as live, and adds the reader's own time. The pages do without it.
const everyMs = 10000;
const own = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' });
const isUtc = new Date().getTimezoneOffset() === 0;
function addLocal(root) {
	if (isUtc) return;
	for (const at of root.querySelectorAll('time')) {
		const local = document.createElement('span');
		local.className = 'local';
		local.textContent = ' (' + own.format(new Date(at.dateTime)) + ' here)';
		at.append(local);
	}
}
const raw = new Map();
function isInUse(part) {
	const selection = document.getSelection();
	const isSelected = selection !== null && !selection.isCollapsed && part.contains(selection.anchorNode);
	return isSelected || part.contains(document.activeElement) || part.querySelector('details[open]') !== null;
}
async function refresh() {
	const note = document.getElementById('refreshing');
	try {
		const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
		if (!answer.ok) throw new Error(String(answer.status));
		const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
		for (const part of document.querySelectorAll('[data-live]')) {
			const next = fresh.getElementById(part.id);
			if (next === null || raw.get(part.id) === next.outerHTML || isInUse(part)) continue;
			raw.set(part.id, next.outerHTML);
			const taken = document.importNode(next, true);
			addLocal(taken);
			part.replaceWith(taken);
		}
		document.title = fresh.title;
		note.textContent = ' · refreshes by itself';
	} catch {
		note.textContent = ' · cannot be refreshed now: what you see is as of before';
	}
}
for (const part of document.querySelectorAll('[data-live]')) raw.set(part.id, part.outerHTML);
addLocal(document);
document.getElementById('refreshing').textContent = ' · refreshes by itself';
setInterval(() => { if (!document.hidden) void refresh(); }, everyMs);
document.addEventListener('visibilitychange', () => { if (!document.hidden) void refresh(); });
`

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<rect width="16" height="16" rx="3" fill="#2f6fb5"/>
<path d="M2 9h3l2-5 3 8 2-3h2" fill="none" stroke="#fff" stroke-width="1.5" stroke-linejoin="round"/></svg>
`
