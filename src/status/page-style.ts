/** The style sheet of the page. No rule refers to a file. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --text: #1c232b; --quiet: #5a6672; --line: #d9dee4;
  --good: #1a7f37; --warn: #9a6700; --bad: #c4222d; --accent: #0b62c4 }
@media (prefers-color-scheme: dark) {
  :root { --ground: #10151b; --card: #1a2129; --text: #e3e8ee; --quiet: #9aa7b4; --line: #303a45;
    --good: #4cc46a; --warn: #e0b03a; --bad: #ff7b72; --accent: #6cb0ff }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.45 system-ui, sans-serif }
header, main { max-width: 76rem; margin: auto; padding: 0 1rem }
header { padding-top: 1rem; display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline }
h1 { font-size: 1.25rem; margin: 0 }
h2 { font-size: 1rem; margin: 0 0 .5rem }
header p, .quiet, small { color: var(--quiet); margin: 0 }
small { display: block; font-size: .8rem }
section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: 1rem 0 }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .5rem; margin: 1rem 0; padding: 0 }
.tile { background: var(--card); border: 1px solid var(--line); border-left: .25rem solid var(--line); border-radius: .5rem; padding: .5rem .75rem }
.tile dt { color: var(--quiet); font-size: .8rem }
.tile dd { margin: 0; font-size: 1.2rem; font-variant-numeric: tabular-nums; overflow-wrap: anywhere }
.tile.good { border-left-color: var(--good) } .tile.warn { border-left-color: var(--warn) } .tile.bad { border-left-color: var(--bad) }
.good { color: var(--good) } .warn { color: var(--warn) } .bad { color: var(--bad) }
.tile.good, .tile.warn { color: var(--text) }
#stale { color: var(--bad); font-weight: 600; margin: 0 }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums }
th { text-align: left; color: var(--quiet); font-weight: 500; font-size: .8rem }
th, td { padding: .25rem .5rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
td.number, th.number { text-align: right; white-space: nowrap }
tr.engine td { font-weight: 600; border-bottom-style: dotted; padding-top: .6rem } tr.engine small { font-weight: 400 }
tr.node td:first-child { padding-left: 1.25rem }
ul { margin: 0; padding-left: 1.1rem } li { overflow-wrap: anywhere } li + li { margin-top: .25rem }
li time { color: var(--quiet); font-size: .85rem; margin-left: .6rem } li a { margin-left: .6rem; font-size: .85rem }
a { color: var(--accent) }
.bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-bottom: .5rem }
input, select, textarea, button { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: .35rem; padding: .35rem .5rem; max-width: 100% }
button { cursor: pointer } button.main { background: var(--accent); color: var(--card); border-color: var(--accent) }
form { display: grid; grid-template-columns: repeat(auto-fit, minmax(12rem, 1fr)); gap: .5rem }
label { display: grid; gap: .15rem; font-size: .8rem; color: var(--quiet) } label > * { font-size: .95rem; color: var(--text); width: 100% }
form .wide { grid-column: 1 / -1 } textarea { min-height: 4.5rem; font-family: ui-monospace, monospace }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0 0; font: .85rem/1.5 ui-monospace, monospace }
[hidden] { display: none !important }
@media (max-width: 40rem) {
  header, main { padding-left: .6rem; padding-right: .6rem }
  .tiles { grid-template-columns: 1fr 1fr }
  section { padding: .6rem }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden }
  table, tbody { display: block } tr { display: flex; flex-wrap: wrap; gap: 0 .9rem; border-bottom: 1px solid var(--line); padding: .35rem 0 }
  td, td.number { display: block; border: 0; padding: 0; text-align: left; white-space: normal }
  td:first-child { flex: 1 0 100% }
  td[data-label]:not(:first-child)::before { content: attr(data-label) " "; color: var(--quiet); font-size: .8rem }
  td:empty { display: none } tr.engine td { padding-top: 0 } tr.engine { padding-top: .6rem }
  li time { display: block; margin-left: 0 } li a { margin-left: 0 }
}
`
