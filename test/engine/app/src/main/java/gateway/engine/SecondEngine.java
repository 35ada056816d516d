package gateway.engine;

import org.camunda.bpm.container.RuntimeContainerDelegate;
import org.camunda.bpm.engine.ProcessEngine;
import org.camunda.bpm.engine.impl.cfg.StandaloneInMemProcessEngineConfiguration;
import org.camunda.bpm.spring.boot.starter.configuration.impl.custom.CreateAdminUserConfiguration;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** The engine named 'second'. Made while the context starts: later, the port would already be open. */
@Component
class SecondEngine implements InitializingBean, DisposableBean {

  private final CreateAdminUserConfiguration admin;
  private final boolean secured;
  private final boolean jobs;
  private ProcessEngine engine;

  SecondEngine(
      CreateAdminUserConfiguration admin,
      @Value("${gateway.secured:false}") boolean secured,
      @Value("${gateway.jobs:false}") boolean jobs) {
    this.admin = admin;
    this.secured = secured;
    this.jobs = jobs;
  }

  @Override
  public void afterPropertiesSet() {
    var configuration = new StandaloneInMemProcessEngineConfiguration();
    configuration.setProcessEngineName("second");
    configuration.setJdbcUrl("jdbc:h2:mem:second;DB_CLOSE_DELAY=-1");
    configuration.setHistory("full");
    configuration.setAuthorizationEnabled(secured);
    configuration.setJobExecutorActivate(jobs);
    configuration.setDbMetricsReporterActivate(false);
    engine = configuration.buildProcessEngine();
    admin.postProcessEngineBuild(engine);
    RuntimeContainerDelegate.INSTANCE.get().registerProcessEngine(engine);
  }

  @Override
  public void destroy() {
    RuntimeContainerDelegate.INSTANCE.get().unregisterProcessEngine(engine);
    engine.close();
  }
}
