import t from 'tap'
import { foldedName, isSameName } from '../../src/request/same-name.ts'

t.test('case, accents and trailing spaces do not distinguish two names', async (t) => {
  for (const spelling of ['jürgen', 'JÜRGEN', 'Jurgen', 'Ju\u0308rgen', 'Jürgen  '])
    t.equal(isSameName('Jürgen', spelling), true, spelling)
})

t.test('other differences distinguish two names', async (t) => {
  for (const other of ['', 'Jürge', 'Jürgens', ' Jürgen', 'Jür gen'])
    t.equal(isSameName('Jürgen', other), false, other)
})

t.test('all spellings of a name have one folded form', async (t) => {
  t.equal(foldedName('JÜRGEN '), 'jurgen')
  t.equal(foldedName('jurgen'), 'jurgen')
})
