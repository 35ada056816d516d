/** Returns the tour. Every line that does not begin with `#` can be pasted into a shell. */
export function tourOf({ base, admin }: { readonly base: string; readonly admin: string }): string {
  const json = `-H 'Content-Type: application/json'`
  return `
engine-gateway listens at ${base} (admin: ${admin})
Users: demo/demo may do everything; mary/mary may work on reviews; peter/peter sees the tasks of a group.

# 1. Without credentials: 401
curl -siw '\\n' ${base}/task

# 2. Mary may not evaluate decisions: 403, with the missing permission
ID=$(curl -su demo:demo ${base}/decision-definition/key/discount | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl -siw '\\n' -u mary:mary ${json} -d '{"variables":{"amount":{"value":120,"type":"Integer"}}}' ${base}/decision-definition/$ID/evaluate

# 3. Two requests for a diagram: the second response comes from memory (Cache-Status: hit)
curl -su demo:demo -o /dev/null -D - ${base}/decision-definition/key/discount/diagram
curl -su demo:demo -o /dev/null -D - ${base}/decision-definition/key/discount/diagram

# 4. An expression in a task query is code: 400, and the query is not sent to the engine
curl -siw '\\n' -u demo:demo ${json} -d '{"orQueries":[{"assigneeExpression":"\${1+1}"}]}' ${base}/task

# 5. A task query: demo sees all tasks, mary only tasks of the review process
curl -sw '\\n' -u demo:demo ${json} -d '{}' ${base}/task/count
curl -sw '\\n' -u mary:mary ${json} -d '{}' ${base}/task/count

# 6. The task list of peter. Only config/users.yaml has peter's group, management. The engine itself finds no task for peter
curl -sw '\\n' -u peter:peter '${base}/task?candidateUser=peter'

# 7. Another engine, selected by name
curl -sw '\\n' -u demo:demo ${base}/engine/second/task

# 8. Metrics for Prometheus
curl -s ${admin}/metrics | grep '^gateway_'

`
}

/** Returns the tour for an engine of the user. Every line that does not begin with `#` can be pasted into a shell. */
export function ownEngineTourOf({
  base,
  admin,
  engine,
}: {
  readonly base: string
  readonly admin: string
  readonly engine: string
}): string {
  return `
engine-gateway listens at ${base} (admin: ${admin})
It is in front of ${engine}, and refuses no request of its users. It counts what it would refuse.
Users: demo/demo, mary/mary and peter/peter. config/authorizations.yaml has the records.

# 1. A request to your engine
curl -siw '\\n' -u demo:demo ${base}/version

# 2. Mary may not read this report. The request is sent all the same
curl -siw '\\n' -u mary:mary ${base}/task/report/candidate-group-count

# 3. Would it be refused, and why?
curl -s -H 'X-Requested-By: curl' -H 'Content-Type: application/json' -d '{"user":"mary","request":"GET /task/report/candidate-group-count","text":true}' ${admin}/explain

# 4. The number of requests that the mode enforce would refuse
curl -s ${admin}/metrics | grep -e '-report"'

# 5. The status page for a browser
curl -sL ${admin} | head -c 100

`
}
