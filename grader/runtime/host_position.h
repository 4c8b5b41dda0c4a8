/* host_position.h — the line of the host code at a crash, or after some time. */
#pragma once

/* A call of the entry that takes longer prints its position. The grader gives it 4 s. */
enum { HOST_POSITION_ALARM_MS = 3400 };

/* Installs the handlers. */
void wb_watch_host_position(void);
/* Prints the position after that time; 0 = never. */
void wb_set_position_alarm(unsigned milliseconds);
