import t from 'tap'
import { createPathOf } from '../../../src/pipeline/routes.ts'
import type { Random } from '../../differential/random.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders } from './compare.ts'
import { openEngine } from './open-engine.ts'
import { openRouter } from '../../support/open-router.ts'
import { canonical } from './targets.ts'
import { textFrom, words } from './texts.ts'
import { jsonOf, type Told } from './wire.ts'

/** Operations whose response shows the parameter that the engine has read. */
const ROUTES: readonly (readonly [template: string, said: RegExp])[] = [
  ['/task/:id', /^No matching task with id (.*)$/s],
  ['/process-definition/key/:key', /^No matching process definition with key: (.*) and no tenant-id$/s],
  ['/user/:id/profile', /^User with id (.*) does not exist$/s],
  ['/group/:id', /^Group with id (.*) does not exist$/s],
  ['/tenant/:id', /^Tenant with id (.*) does not exist$/s],
]

const FRAGMENTS = [
  ...words(`
    a b A 0 - _ . .. ~ ! $ & ' ( ) * + , = : @ %20 %2B %25 %2525 %C3%A4 %c3%a4 %F0%9F%98%80 %E2%80%A8 %EF%BB%BF %C2%A0 %C2%85 %61 %7E
    %3F %23 %22 %3C %7B %7C %5E %60 %5B %26 %3D %2E %2e%2e %EF%BF%BD %EF%BC%8F %E2%88%95
  `),
  ...words('; %2F %5C %3B %00 %0a %7F %C0%AF %ED%A0%80 %FF % %zz / // ? # [ ^ | %252F %253B'),
]

function makeText(random: Random): string {
  return textFrom(random, random.chance(0.8) ? FRAGMENTS.slice(0, 50) : FRAGMENTS, 6)
}

function saidBy(told: Told, said: RegExp): string | null {
  return said.exec(String(Object(jsonOf(told))['message']))?.[1] ?? null
}

t.test('the engine decodes the parameters of a path as the gateway does', { skip: javaSkip }, async (t) => {
  const { ask } = await openEngine(t)
  const matched = await openRouter(t)
  await compareReaders(t, {
    what: 'path parameters',
    inputs: 3000,
    part: 51,
    make: (random) => ({ route: random.pick(ROUTES), text: makeText(random) }),
    compare: async ({ route: [template, said], text }) => {
      const sent = canonical(template.replace(/:\w+/, () => text))
      if (sent === null) return 'refused'
      const [path = ''] = sent.split('?', 1)
      const found = await matched(path)
      const told = await ask({ path })
      const engine = saidBy(told, said)
      if (found?.template !== template) return engine === null ? null : { engine, gateway: found?.template }
      const [param] = Object.values(found.params)
      // The container refuses more paths, and the engine decodes some parameters again.
      if (engine === null) return told.status >= 400 ? null : { engine: told.status, gateway: param }
      const again = saidBy(await ask({ path: createPathOf(template)(found.params) }), said)
      return engine === param && again === param ? null : { engine: [engine, again], gateway: param }
    },
  })
})
