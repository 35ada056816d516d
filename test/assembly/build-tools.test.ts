import t from 'tap'
import { buildToolEndpoint, createToolPreparation, toolProblems } from '../../src/assembly/build-tools.ts'
import { ConfigError } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'
import { configOf } from '../support/open-gateway.ts'

t.test('a tool that is no operation, or that needs an upload, is a problem of the configuration', (t) => {
  const problemsOf = (mcp: object) => toolProblems(configOf(t, 'http://127.0.0.1:9', { settings: { mcp } }))
  t.same(problemsOf({}), [])
  t.same(problemsOf({ tools: 'all' }), [])
  t.same(problemsOf({ tools: ['getTasks', 'getTask'] }), [])
  t.same(problemsOf({ tools: ['getTasks', 'none', 'createDeployment', 'availableOperations'] }), [
    'mcp.tools[1]: there is no operation none',
    'mcp.tools[2]: the operation createDeployment cannot be a tool',
    'mcp.tools[3]: the operation availableOperations cannot be a tool',
  ])
  t.same(toolProblems(configOf(t, 'http://127.0.0.1:9')), [])
  t.end()
})

t.test('the path of the tools is not also the path of the API or of an application', (t) => {
  const problemsOf = (settings: object) => {
    try {
      configOf(t, 'http://127.0.0.1:9', { settings: { ...settings } })
      return []
    } catch (error) {
      if (error instanceof ConfigError) return error.problems
      throw error
    }
  }
  const passthrough = [{ prefix: '/mcp/app', upstream: 'http://127.0.0.1:9' }]
  t.match(problemsOf({ mcp: {}, basePath: '/mcp' }), [/^basePath: must not be or contain \/mcp/])
  t.match(problemsOf({ mcp: {}, passthrough }), [/^passthrough\[0\].prefix: must not be or contain \/mcp/])
  t.same(problemsOf({ basePath: '/mcp' }), [])
  t.same(problemsOf({ passthrough }), [])
  t.same(problemsOf({ mcp: {}, basePath: '/mcp-engine' }), [])
  t.match(problemsOf({ mcp: { defaultResults: 200 } }), [/defaultResults.*must not exceed maxResults/])
  t.match(problemsOf({ mcp: { maxResultBytes: '1025KiB' } }), [
    /^mcp.maxResultBytes: must be at most 1MiB, because/,
  ])
  t.same(problemsOf({ mcp: { maxResultBytes: '1MiB' } }), [])
  t.end()
})

t.test('lists of tools are written before the gateway is ready, with other work between them', async (t) => {
  const config = configOf(t, 'http://127.0.0.1:9', { settings: { mcp: { tools: 'all' } } })
  const log = createLogger({ level: 'silent' })
  const built = await buildToolEndpoint({ config, log, version: 'test', isReplaced: () => false })
  if (built === null) throw new Error('tools are configured')
  const counts: number[] = []
  const turns: number[] = []
  let turn = 0
  const count = () => {
    turn += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  const endpoint: Parameters<typeof createToolPreparation>[0] = {
    tools: built.tools,
    serve: async (message) => {
      counts.push((await message.list()).length)
      turns.push(turn)
      const served = await built.serve(message)
      const text = await served.response.clone().text()
      t.equal(text.match(/"inputSchema"/g)?.length, counts.at(-1))
      return served
    },
  }
  const { start } = createToolPreparation(endpoint)
  await start?.()
  clearImmediate(next)
  t.same(counts, [1, 20, 100, built.tools.size])
  t.equal(new Set(turns).size, counts.length)
  t.same(createToolPreparation(null), {})
})
