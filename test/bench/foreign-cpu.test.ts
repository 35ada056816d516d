import t from 'tap'
import { busyTicksOf, foreignShare, processTimesOf, treeTicksOf } from '../../bench/foreign-cpu.ts'

t.test('the machine is busy with users, niced processes, the system and other machines', (t) => {
  // user, nice, system, idle, iowait, irq, softirq, steal, guest
  const stat = 'cpu  100 20 30 4000 500 60 70 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n'
  t.equal(busyTicksOf(stat), 158)
  t.end()
})

t.test('the fields of a process are read behind its name, which may contain spaces and brackets', (t) => {
  const stat = '4711 (node) (x 1) S 12 4711 4711 0 -1 4194304 1 2 3 4 150 50 30 7 20 0 11 0 99'
  t.same(processTimesOf(stat), { pid: 4711, parent: 12, own: 200, ended: 37 })
  t.end()
})

t.test('the own CPU time includes descendants that run and that have ended, and no other process', (t) => {
  const processes = [
    { pid: 1, parent: 0, own: 5000, ended: 900 },
    { pid: 10, parent: 1, own: 100, ended: 10 },
    { pid: 11, parent: 10, own: 20, ended: 2 },
    { pid: 12, parent: 11, own: 3, ended: 0 },
    { pid: 20, parent: 1, own: 7000, ended: 0 },
  ]
  t.equal(treeTicksOf(processes, 10), 135)
  t.equal(treeTicksOf(processes, 99), 0)
  t.end()
})

t.test('the foreign share is the CPU time of other processes, divided by the time of all cores', (t) => {
  const before = { atMs: 1000, machineSeconds: 50, ownSeconds: 5 }
  const after = { atMs: 3000, machineSeconds: 53, ownSeconds: 7 }
  t.equal(foreignShare(before, after, 2), 0.25)
  // The clocks of the machine and of processes have a resolution of 10 ms.
  t.equal(foreignShare(before, { ...after, ownSeconds: 9 }, 2), 0)
  t.equal(foreignShare(before, { ...after, machineSeconds: 99 }, 2), 1)
  t.end()
})
