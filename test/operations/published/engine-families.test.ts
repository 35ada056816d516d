import t from 'tap'
import {
  classNamesIn,
  ENGINE_FAMILIES,
  familyOfClass,
  familyOfNamespace,
  familyOfProduct,
  familyOfRelease,
  schemaNeedOf,
} from '../../../src/operations/published/engine-families.ts'
import { RELEASES } from '../../../src/operations/published/releases.ts'

t.test('families are recognized by product, namespace and class', (t) => {
  t.equal(familyOfProduct('Camunda BPM Runtime')?.name, 'Camunda')
  t.equal(familyOfProduct('Operaton BPM Runtime')?.name, 'Operaton')
  t.equal(familyOfProduct('My Operaton'), null)
  t.equal(familyOfNamespace('http://operaton.org/schema/1.0/dmn')?.name, 'Operaton')
  t.equal(familyOfNamespace('http://camunda.org/schema/1.0/bpmn'), null)
  t.equal(familyOfClass('org.finos.fluxnova.A')?.name, 'Fluxnova')
  t.equal(familyOfClass('org.operatonx.A'), null)
  t.end()
})

t.test('each release has a family', (t) => {
  for (const release of RELEASES) t.not(familyOfRelease(release), null, release)
  t.end()
})

const needOf = (name: string, version: string) => {
  const family = ENGINE_FAMILIES.find((one) => one.name === name)
  return family === undefined ? undefined : (schemaNeedOf(family, version)?.needs ?? null)
}

t.test('the needed schema depends on the version', (t) => {
  for (const [name, version, needs] of [
    ['Camunda', '7.20.1', null],
    ['Camunda', '7.22.0', '7.22'],
    ['Camunda', '7.24.0', '7.23'],
    ['Camunda', '7.24.0-ee', '7.23'],
    ['Operaton', '1.0.3', '7.23'],
    ['Operaton', '2.1.4', '7.23'],
    ['CIB seven', '1.1.0', null],
    ['CIB seven', '2.2.0', '7.23'],
    ['Fluxnova', '3.0', null],
  ] as const)
    t.equal(needOf(name, version), needs, `${name} ${version}`)
  t.end()
})

t.test('class names end where an identifier cannot continue', (t) => {
  t.same(
    classNamesIn('a(org.camunda.bpm.A$B.c("x"), Packages.org.operaton.D; org.camunda. org.camundax.E)'),
    ['org.camunda.bpm.A$B.c', 'org.operaton.D'],
  )
  t.end()
})
