import { pageHeaders } from '../request/page-headers.ts'

/** The style of the page of the API. */
export const API_PAGE_STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 64rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere }
.skip:not(:focus) { position: absolute; left: -99rem }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1rem; margin: 0; padding: 0; list-style: none }
h2 { margin: 1.5rem 0 .25rem; font-size: 1.1rem }
details { border-top: 1px solid #8884; padding: .3rem 0 }
details:has(:target) { border-left: .3rem solid #c80; padding-left: .5rem }
summary { cursor: pointer; padding: .2rem 0 }
summary code { font-weight: 600 }
details > div { margin: 0 0 0 1rem }
table { border-collapse: collapse; margin: .3rem 0 }
td, th { padding: .1rem .8rem .1rem 0; text-align: left; vertical-align: top; min-width: 3rem }
.method { display: inline-block; min-width: 4.5rem }
@media (max-width: 40rem) {
  .method { min-width: 0 }
  details > div { margin: 0 }
}
.quiet { opacity: .7 }
`

/** The page loads nothing and runs no script. */
export const PAGE_HEADERS = pageHeaders({ style: API_PAGE_STYLE })
