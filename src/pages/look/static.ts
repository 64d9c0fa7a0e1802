/** The style of the pages and their icon. There is no script. */

export const style = `
:root { color-scheme: light dark; --text: #1b1f24; --quiet: #57606a; --back: #ffffff; --lift: #f4f6f8; --line: #d8dde2;
	--link: #0a4fa3; --well: #116329; --ill: #a40e26; --waits: #7a4d00; --bar: #2f6fb5; --out: #93450f;
	--well-back: #eaf6ec; --ill-back: #fdecee; --waits-back: #fdf4e1; }
@media (prefers-color-scheme: dark) {
	:root { --text: #e6e9ec; --quiet: #a3adb8; --back: #12161b; --lift: #1b2128; --line: #333c46;
		--link: #8bbcff; --well: #6fd48a; --ill: #ff9aa5; --waits: #f0c36a; --bar: #5c97da; --out: #d99a63;
		--well-back: #14281a; --ill-back: #341a1f; --waits-back: #2e2511; }
}
* { box-sizing: border-box; }
html { font: 14px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back); }
body { margin: 0 auto; max-width: 96rem; padding: 0 1.25rem 2rem; }
a { color: var(--link); text-underline-offset: .15em; text-decoration-thickness: 1px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .5rem; z-index: 1; }
.hidden, caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
	white-space: nowrap; }
header { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: baseline; }
.name { font-weight: 700; margin: .6rem 0; }
nav ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; list-style: none; margin: 0; padding: 0; }
nav a { display: inline-block; padding: .3rem 0; }
nav a[aria-current] { font-weight: 700; text-decoration-thickness: 3px; }
.health { flex-basis: 100%; margin: .25rem 0 .75rem; padding: .55rem .9rem; border-left: .4rem solid;
	border-radius: .25rem; overflow-wrap: anywhere; }
.health p { margin: 0; font-size: 1.25rem; font-weight: 700; }
.health ul { margin: .25rem 0 0; padding-left: 1.25rem; color: var(--text); }
.watching { color: var(--well); background: var(--well-back); }
.degraded { color: var(--waits); background: var(--waits-back); }
.not-watching { color: var(--ill); background: var(--ill-back); }
.well { color: var(--well); } .ill { color: var(--ill); } .waits { color: var(--waits); }
.mark { font-weight: 600; white-space: nowrap; } time.ago, time span { white-space: nowrap; }
time.ago { font-variant-numeric: tabular-nums; }
h1 { font-size: 1.5rem; margin: .75rem 0 .5rem; overflow-wrap: anywhere; }
h1 ~ section > p:first-child { margin: .35rem 0; }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .35rem; overflow-wrap: anywhere; }
small, .quiet { color: var(--quiet); font-size: .93em; } .quiet a, a.quiet { color: var(--link); }
code, .address { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .9em; }
code { overflow-wrap: anywhere; }
.address { white-space: nowrap; user-select: all; font-size: 12px; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
th, td { text-align: left; vertical-align: baseline; padding: .25rem .5rem; border-bottom: 1px solid var(--line);
	overflow-wrap: anywhere; min-width: 4.5rem; }
thead th { color: var(--quiet); font-weight: 600; overflow-wrap: normal; white-space: nowrap; font-size: .9em; }
tbody th { font-weight: 600; min-width: 6.5rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; } td.number { white-space: nowrap; }
.whole { white-space: nowrap; }
.alarm { color: var(--ill); font-weight: 600; } .alarm a { color: inherit; }
tbody th small { display: block; font-weight: 400; } tbody th:has(time) { font-weight: 400; white-space: nowrap; }
.alerts td:nth-child(n+3) { white-space: nowrap; } .alerts td:nth-child(2) { width: 70%; }
.loud { background: var(--ill-back); } .loud th { box-shadow: inset .3rem 0 var(--ill); }
.more { display: none; } tr:has(details[open]) + .more { display: table-row; }
tr:has(details[open]), .more { background: var(--lift); } .more td { padding: .25rem 1.5rem .75rem; }
.about { display: flex; flex-wrap: wrap; gap: 0 4rem; } .about h2 { margin-top: .75rem; }
.chart { margin: 0; } figcaption { margin-bottom: .25rem; color: var(--quiet); } figcaption b { color: var(--text); }
.plot { display: grid; grid-template-columns: max-content minmax(0, 1fr); column-gap: .4rem; }
.plot svg { display: block; width: 100%; height: 5rem; background: var(--lift); }
.scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right; }
.times { grid-column: 2; display: flex; justify-content: space-between; }
.scale, .times { color: var(--quiet); font-size: .8rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.chart rect { fill: var(--bar); } .chart rect.out { fill: var(--out); }
.chart line { stroke: var(--line); vector-effect: non-scaling-stroke; }
.filters { display: flex; flex-wrap: wrap; gap: .4rem .9rem; align-items: center; background: var(--lift);
	padding: .45rem .75rem; margin: .5rem 0; border-radius: .25rem; }
.filters p { margin: 0; display: flex; flex-wrap: wrap; gap: 0 .45rem; align-items: center; }
.filters label { font-size: .85rem; color: var(--quiet); }
input, select, button { font: inherit; color: var(--text); background: var(--back); border: 1px solid var(--quiet);
	border-radius: .25rem; padding: .2rem .5rem; max-width: 100%; min-height: 2rem; }
button { cursor: pointer; }
.sent { margin: .25rem 0; padding-left: 1.25rem; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--link); display: inline-block; padding: .1rem 0; }
summary::before { content: '▸'; display: inline-block; width: 1em; } details[open] summary::before { content: '▾'; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; margin: .5rem 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.pager { display: flex; gap: 1.5rem; margin: 1rem 0; } .pager a { padding: .35rem 0; }
footer { margin-top: 2rem; border-top: 1px solid var(--line); color: var(--quiet); } footer p { margin: .35rem 0; }
@media (max-width: 72rem) {
	thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
	table, tbody, tr, tbody th, td { display: block; width: 100%; }
	tr { border-bottom: 1px solid var(--line); padding: .35rem 0; }
	th, td { border: 0; padding: .1rem 0; min-width: 0; }
	td[data-name]:not([data-name=What])::before { content: attr(data-name) ": "; color: var(--quiet); }
	.alerts td:nth-child(2) { width: 100%; }
	td:empty { display: none; }
	.number { text-align: left; }
	.loud { padding-left: .75rem; box-shadow: inset .3rem 0 var(--ill); } .loud th { box-shadow: none; }
	tr:has(details[open]) + .more { display: block; } .more td { padding: .25rem .6rem .6rem; }
	dl { grid-template-columns: minmax(0, 1fr); } dd { margin-bottom: .35rem; }
	.about { gap: 0 2rem; } .about dl { grid-template-columns: max-content minmax(0, 1fr); } .about dd { margin: 0; }
	.about dt.wide { display: none; } .about dd.wide { grid-column: 1 / -1; }
}
@media (max-width: 30rem) {
	body { padding: 0 1rem 1.5rem; }
	.filters p { display: block; flex: 1 1 40%; } .filters label { display: block; }
	.filters input, .filters select { width: 100%; }
}
@media (forced-colors: active) { .chart rect { fill: CanvasText; } .chart rect.out { fill: GrayText; } }
@media print { .filters, .pager, nav, .skip { display: none; } }
`.trimStart()

export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">
<rect width="16" height="16" rx="3" fill="#2f6fb5"/>
<path d="M2 9h3l2-5 3 8 2-3h2" fill="none" stroke="#fff" stroke-width="1.5" stroke-linejoin="round"/></svg>
`
