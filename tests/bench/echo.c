/* Reads lines and writes them back: the floor under every round trip over a pipe. */
#include <unistd.h>

int main(void) {
  static char buffer[1 << 16];
  for (;;) {
    ssize_t got = read(0, buffer, sizeof buffer);
    if (got <= 0) return 0;
    for (ssize_t sent = 0; sent < got;) {
      ssize_t n = write(1, buffer + sent, got - sent);
      if (n <= 0) return 1;
      sent += n;
    }
  }
}
