import t from 'tap'
import { findPatternMistake } from '../../src/config/date-pattern.ts'

t.test('a mistake in a date pattern is reported', async (t) => {
  t.equal(findPatternMistake("yyyy-MM-dd'T'HH:mm:ss.SSSZ"), null)
  t.equal(findPatternMistake("h 'o''clock' a"), null)
  t.equal(findPatternMistake(' '), 'must not be empty')
  t.match(findPatternMistake("yyyy-MM-dd'T"), /single quote/)
  t.match(findPatternMistake('yyyy-MM-ddTHH:mm'), /the letter T/)
})
