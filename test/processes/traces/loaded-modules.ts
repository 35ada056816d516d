import { registerHooks } from 'node:module'

/** A preload: tells each module of OpenTelemetry's SDK that the process loads, as a line of its log. The metrics library loads the API. */
registerHooks({
  load(url, context, nextLoad) {
    if (/\/@opentelemetry\/(?!api\/)/.test(url))
      process.stdout.write(`${JSON.stringify({ msg: 'loaded', url })}\n`)
    return nextLoad(url, context)
  },
})
