package gateway.engine;

import org.camunda.bpm.engine.rest.mapper.JacksonConfigurator;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Configuration;

/** Sets the date format of the REST API: --gateway.date-format=PATTERN. Without it the engine uses its default. */
@Configuration
class DateFormatSetting {

  DateFormatSetting(@Value("${gateway.date-format:}") String pattern) {
    if (!pattern.isEmpty()) JacksonConfigurator.setDateFormatString(pattern);
  }
}
