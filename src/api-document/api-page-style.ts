import { pageHeaders } from '../request/page-headers.ts'

/** The style of the page of the API. */
export const API_PAGE_STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif }
body { max-width: 64rem; margin: 0 auto; padding: 1rem }
h2 { margin: 1.5rem 0 .25rem; font-size: 1.1rem }
details { border-top: 1px solid #8884; padding: .3rem 0 }
details:target { background: #fc04 }
summary { cursor: pointer }
summary code { font-weight: 600 }
section > div { margin: 0 0 0 1rem }
table { border-collapse: collapse; margin: .3rem 0 }
td, th { padding: .1rem .8rem .1rem 0; text-align: left; vertical-align: top }
.method { display: inline-block; min-width: 4.5rem }
.quiet { opacity: .7 }
`

/** The page loads nothing and runs no script. */
export const PAGE_HEADERS = pageHeaders({ style: API_PAGE_STYLE })
