import t from 'tap'
import { problemsIn } from '../support/config-file.ts'

const REST = `version: 1
engines: { default: { nodes: ["http://engine:8080/engine-rest"] } }
identity: { source: file, file: users.yaml }
authorization: { records: { source: file, file: records.yaml } }
`

t.test('a section without content is refused, because it would be off', (t) => {
  for (const name of ['mcp', 'apiDocument'])
    for (const line of [`${name}:`, `${name}:   # later`]) {
      const problem = `${name}: is empty, so it has no effect: write ${name}: {} or leave it out`
      t.same(problemsIn(t, `${REST}${line}\n`), [problem], line)
    }
  t.end()
})

t.test('a written null and an empty object are permitted', (t) => {
  for (const line of ['mcp: null', 'mcp: ~', 'mcp: {}', 'apiDocument: {}'])
    t.same(problemsIn(t, `${REST}${line}\n`), [], line)
  t.end()
})
