import { readFileSync } from 'node:fs'
import t from 'tap'
import { javaSkip } from '../../support/requirements.ts'
import { FACTS_FILE, importedFacts } from './import-facts.ts'

t.test('the file of facts equals the documents on Maven Central', { skip: javaSkip }, async (t) => {
  t.equal(readFileSync(FACTS_FILE, 'utf8'), await importedFacts(), 'run `npm run import:published`')
})
