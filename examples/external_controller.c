/* A congestion controller in a process of its own: standard TCP (RFC 5681) over a socket.
 *
 *     cc -O2 -o controller examples/external_controller.c && ./controller controller.sock &
 *     longhaul evaluate unix:controller.sock
 *
 * docs/external-controllers.md describes the lines that go over the socket. This program keeps the
 * window of each flow itself, as a stack would, and asks for nothing but what it needs.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct flow {
    double cwnd, ssthresh; /* in segments; 0: no threshold yet */
};

static struct flow *flows;
static size_t flow_count;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* The state of a flow: numbers count from 0 on each connection. */
static struct flow *flow_of(size_t number)
{
    if (number >= flow_count) {
        size_t count = 2 * number + 16;
        flows = realloc(flows, count * sizeof *flows);
        if (!flows)
            fail("realloc");
        memset(flows + flow_count, 0, (count - flow_count) * sizeof *flows);
        flow_count = count;
    }
    return flows + number;
}

/* Where the value of a key begins. Keys and texts of the protocol have no escapes, and objects are flat. */
static const char *value_of(const char *line, const char *key)
{
    char quoted[32];
    int length = snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *found = strstr(line, quoted);
    return found ? found + length : "";
}

static int is(const char *value, const char *word)
{
    return strncmp(value, word, strlen(word)) == 0;
}

/* The answer to a line, without the newline; its length. */
static int answer(const char *line, char *out, size_t size)
{
    const char *event = value_of(line, "event");
    if (is(event, "\"hello\""))
        return snprintf(out, size, "{\"facts\":[\"acked\",\"may_grow\"],\"report\":\"ack\"}");
    struct flow *flow = flow_of(strtoul(value_of(line, "flow"), NULL, 10));
    if (is(event, "\"open\"")) {
        flow->cwnd = strtod(value_of(line, "cwnd"), NULL);
        flow->ssthresh = strtod(value_of(line, "ssthresh"), NULL);
    } else if (is(event, "\"ack\"")) {
        double acked = strtod(value_of(line, "acked"), NULL);
        if (!is(value_of(line, "may_grow"), "true"))
            return snprintf(out, size, "{}");
        /* RFC 5681, section 3.1: equation 2 in slow start, equation 3 in congestion avoidance. */
        int slow_start = flow->ssthresh == 0 || flow->cwnd < flow->ssthresh;
        if (slow_start) /* one that fills a hole acknowledges more than the window */
            flow->cwnd += acked < flow->cwnd ? acked : flow->cwnd;
        else
            flow->cwnd += acked / flow->cwnd;
    } else { /* congestion, timeout */
        double half = strtod(value_of(line, "base"), NULL) / 2;
        if (!is(value_of(line, "keep_ssthresh"), "true"))
            flow->ssthresh = half > 2 ? half : 2;
        flow->cwnd = is(event, "\"timeout\"") ? 1 : flow->ssthresh;
        /* Seventeen digits give the same number back. */
        return snprintf(out, size, "{\"cwnd\":%.17g,\"ssthresh\":%.17g}", flow->cwnd, flow->ssthresh);
    }
    return snprintf(out, size, "{\"cwnd\":%.17g}", flow->cwnd);
}

/* Answers each line until the run ends. One line is under way at a time. */
static void serve(int connection)
{
    char line[4096], out[256];
    size_t length = 0;
    for (;;) {
        ssize_t got = read(connection, line + length, sizeof line - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return;
        length += (size_t)got;
        if (line[length - 1] != '\n') {
            if (length == sizeof line - 1)
                return;
            continue;
        }
        line[length] = '\0';
        int written = answer(line, out, sizeof out - 1);
        out[written++] = '\n';
        if (write(connection, out, (size_t)written) != written)
            return;
        length = 0;
    }
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) {
        fprintf(stderr, "usage: %s PATH\n", argv[0]);
        return 2;
    }
    strcpy(address.sun_path, argv[1]);
    unlink(argv[1]);
    signal(SIGCHLD, SIG_IGN); /* Processes that have ended are not waited for. */
    signal(SIGPIPE, SIG_IGN);
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    if (listening < 0 || bind(listening, (struct sockaddr *)&address, sizeof address) || listen(listening, 64))
        fail(argv[1]);
    for (;;) {
        int connection = accept(listening, NULL, NULL);
        if (connection < 0)
            continue;
        /* Each connection, that is each run, has a process. */
        pid_t child = fork();
        if (child < 0)
            fail("fork");
        if (child == 0) {
            close(listening);
            serve(connection);
            _exit(0);
        }
        close(connection);
    }
}
