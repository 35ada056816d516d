package gateway.client;

import org.camunda.bpm.client.ExternalTaskClient;
import org.camunda.bpm.client.interceptor.auth.BasicAuthProvider;

/** Completes the tasks of a topic. Each line of its output is what became of one. */
public class Worker {

  public static void main(String... args) {
    var topic = args[1];
    var client = ExternalTaskClient.create()
        .baseUrl(args[0])
        .workerId("java")
        .maxTasks(5)
        .asyncResponseTimeout(Long.parseLong(args[2]))
        .lockDuration(Long.parseLong(args[3]))
        .addInterceptor(new BasicAuthProvider("demo", "demo"))
        .build();
    client.subscribe(topic)
        .handler((task, service) -> {
          try {
            service.complete(task);
            System.out.println("completed " + task.getBusinessKey());
          } catch (RuntimeException e) {
            System.out.println("error " + said(e));
          }
        })
        .open();
    System.out.println("ready");
  }

  private static String said(Throwable e) {
    var cause = e.getCause() == null ? "" : " <- " + said(e.getCause());
    return (e.getClass().getSimpleName() + ": " + e.getMessage() + cause).replaceAll("\\s+", " ");
  }
}
