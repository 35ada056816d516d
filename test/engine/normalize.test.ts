import { test } from 'tap'
import { normalize } from './normalize.ts'

void test('ids, times and hosts are masked and everything else stays', async (t) => {
  const uuid = '14e77d0d-e59c-11f1-94af-02fc00000001'
  const cases: readonly (readonly [unknown, unknown])[] = [
    [{ id: uuid }, { id: '<id>' }],
    [
      { id: '107', definitionId: 'review:2:42' },
      { id: '<id>', definitionId: 'review:2:<id>' },
    ],
    [{ message: `No task ${uuid}` }, { message: 'No task <id>' }],
    [
      { activityId: 'read', taskCount: 3, name: '107' },
      { activityId: 'read', taskCount: 3, name: '107' },
    ],
    [
      { due: '2031-05-02T08:00:00.000+0000', dueDate: null },
      { due: '<time>', dueDate: null },
    ],
    [
      { links: [{ href: 'http://127.0.0.1:8080/engine-rest/process-instance/107' }] },
      { links: [{ href: '<origin>/engine-rest/process-instance/<id>' }] },
    ],
  ]
  for (const [body, expected] of cases) t.same(normalize(body), expected)
})

void test('a named member is masked whatever its value', async (t) => {
  t.same(normalize([{ dueDate: null, retries: 3 }], ['dueDate']), [{ dueDate: '<volatile>', retries: 3 }])
})

void test('bytes stay as they are', async (t) => {
  const bytes = Buffer.from('2031-05-02T08:00:00Z')
  t.equal(normalize(bytes), bytes)
})
