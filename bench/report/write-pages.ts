import { writePages } from './pages.ts'
import { readResults } from './results.ts'

// Writes docs/benchmark.md and docs/capacity.md again, from the stored results.

const results = readResults()
if (results === null) throw new Error('there are no results: npm run bench -- --write')
writePages(results)
