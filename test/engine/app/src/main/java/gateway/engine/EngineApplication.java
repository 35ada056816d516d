package gateway.engine;

import org.camunda.bpm.engine.rest.security.auth.ProcessEngineAuthenticationFilter;
import org.camunda.bpm.engine.rest.security.auth.impl.HttpBasicAuthenticationProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnExpression;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;

@SpringBootApplication
public class EngineApplication {

  public static void main(String... args) {
    var context = SpringApplication.run(EngineApplication.class, args);
    var environment = context.getEnvironment();
    System.out.println("ready on port " + environment.getProperty("local.server.port"));
    // A run that only records the classes of a start ends here.
    if (environment.getProperty("gateway.stop", Boolean.class, false)) context.close();
  }

  @Bean
  @ConditionalOnExpression("${gateway.filter:false} or ${gateway.secured:false}")
  FilterRegistrationBean<ProcessEngineAuthenticationFilter> basicFilter() {
    var registration = new FilterRegistrationBean<>(new ProcessEngineAuthenticationFilter());
    registration.addInitParameter("authentication-provider", HttpBasicAuthenticationProvider.class.getName());
    return before(registration);
  }

  @Bean
  @ConditionalOnExpression("!'${gateway.user-header:}'.isEmpty()")
  FilterRegistrationBean<ProcessEngineAuthenticationFilter> userHeaderFilter(
      @Value("${gateway.user-header}") String header, @Value("${gateway.user-secret:}") String secret) {
    UserHeaderProvider.header = header;
    UserHeaderProvider.secret = secret;
    var registration = new FilterRegistrationBean<>(new ProcessEngineAuthenticationFilter());
    registration.addInitParameter("authentication-provider", UserHeaderProvider.class.getName());
    return before(registration);
  }

  private static FilterRegistrationBean<ProcessEngineAuthenticationFilter> before(
      FilterRegistrationBean<ProcessEngineAuthenticationFilter> registration) {
    registration.addUrlPatterns("/engine-rest/*");
    // Without it a long poll of /external-task/fetchAndLock fails.
    registration.setAsyncSupported(true);
    return registration;
  }
}
