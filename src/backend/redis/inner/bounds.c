/*
 * bounds.c: redirect= and redirect_hosts=.  One rule: an address decides, not a
 * name; a name that a server told is judged by what it stands for when it is
 * connected to, unless the user has listed that very name.
 */
#include "backend/redis/inner/bounds.h"

#include <netinet/in.h>
#include <string.h>

#include "backend/registry.h"
#include "base/error.h"
#include "net/resolve.h"

#define HOST_TEXT_MAX 256

/* ---- networks ---- */

static unsigned network_of_v4(uint32_t ip)
{
    static const struct {
        uint32_t from, mask;
        unsigned network;
    } known[] = {
        {0x00000000, 0xff000000, NETWORK_LOOPBACK}, /* 0.0.0.0: this host */
        {0x7f000000, 0xff000000, NETWORK_LOOPBACK}, /* 127.0.0.0/8 */
        {0x0a000000, 0xff000000, NETWORK_PRIVATE},  /* 10.0.0.0/8 */
        {0xac100000, 0xfff00000, NETWORK_PRIVATE},  /* 172.16.0.0/12 */
        {0xc0a80000, 0xffff0000, NETWORK_PRIVATE},  /* 192.168.0.0/16 */
        {0x64400000, 0xffc00000, NETWORK_PRIVATE},  /* 100.64.0.0/10 */
        {0xa9fe0000, 0xffff0000, NETWORK_PRIVATE},  /* 169.254.0.0/16 */
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if ((ip & known[i].mask) == known[i].from) return known[i].network;
    return NETWORK_PUBLIC;
}

static unsigned network_of_v6(const struct in6_addr *ip)
{
    const uint8_t *b = ip->s6_addr;
    if (IN6_IS_ADDR_V4MAPPED(ip))
        return network_of_v4((uint32_t)b[12] << 24 | (uint32_t)b[13] << 16
                             | (uint32_t)b[14] << 8 | b[15]);
    if (IN6_IS_ADDR_LOOPBACK(ip) || IN6_IS_ADDR_UNSPECIFIED(ip))
        return NETWORK_LOOPBACK;
    /* fc00::/7 and fe80::/10 */
    if ((b[0] & 0xfe) == 0xfc || IN6_IS_ADDR_LINKLOCAL(ip))
        return NETWORK_PRIVATE;
    return NETWORK_PUBLIC;
}

unsigned hf__redis_network_of(const struct stream_addr *addr)
{
    const struct sockaddr_storage *sa = &addr->sa;
    if (sa->ss_family == AF_INET)
        return network_of_v4(
            ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr));
    if (sa->ss_family == AF_INET6)
        return network_of_v6(&((const struct sockaddr_in6 *)sa)->sin6_addr);
    return NETWORK_LOOPBACK; /* a socket's path */
}

/* ---- the URL ---- */

static int rule_read(struct bounds *b, const struct url *url,
                     struct hf_error *err)
{
    static const char *const words[] = {[BOUNDS_NETWORK] = "same-network",
                                        [BOUNDS_LISTED] = "listed",
                                        [BOUNDS_ANY] = "any"};
    const char *text = hf__url_option(url, "redirect");
    if (!text) return HF_OK;
    for (int i = BOUNDS_NETWORK; i <= BOUNDS_ANY; i++) {
        b->rule = (enum bounds_rule)i;
        if (!strcmp(text, words[i])) return HF_OK;
    }
    return hf__error_set(err, HF_INVALID,
                         "url: redirect: \"%.40s\" is neither same-network, "
                         "listed nor any",
                         text);
}

static void lower(char *to, const char *from)
{
    for (; *from; from++) {
        char c = *from;
        *to++ = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    *to = '\0';
}

int hf__redis_bounds_list(struct bounds *b, const struct allocator *a,
                          const char *host)
{
    size_t had = b->hosts ? strlen(b->hosts) : 0;
    char *hosts = hf__realloc(a, b->hosts, had + strlen(host) + 2);
    if (!hosts) return -1;
    b->hosts = hosts;
    if (had > 0) hosts[had++] = ' ';
    lower(hosts + had, host);
    return 0;
}

int hf__redis_bounds_read(struct bounds *b, const struct allocator *a,
                          const struct url *url, struct hf_error *err)
{
    const char *list = hf__url_option(url, "redirect_hosts");
    int status = rule_read(b, url, err);
    if (status != HF_OK || !list) return status;
    if (!*list || strchr(list, ' '))
        return hf__error_set(err, HF_INVALID,
                             "url: redirect_hosts: a list of hosts, separated "
                             "by commas, is wanted");
    if (hf__redis_bounds_list(b, a, list) != 0)
        return hf__error_set(err, HF_NOMEM, "redis: out of memory");
    for (char *p = b->hosts; *p; p++)
        if (*p == ',') *p = ' ';
    return HF_OK;
}

void hf__redis_bounds_free(struct bounds *b, const struct allocator *a)
{
    hf__free(a, b->hosts);
    b->hosts = NULL;
}

/* ---- the decision ---- */

static int is_listed(const struct bounds *b, const char *host)
{
    char text[HOST_TEXT_MAX];
    if (!b->hosts || strlen(host) >= sizeof text) return 0;
    lower(text, host);
    return hf__word_is_in(text, b->hosts);
}

void hf__redis_bounds_learn(struct bounds *b, const char *host,
                            const struct stream_addr *addr)
{
    if (is_listed(b, host)) b->networks |= hf__redis_network_of(addr);
}

int hf__redis_bounds_allow(const struct bounds *b, const char *host,
                           const struct stream_addr *addr)
{
    if (b->rule == BOUNDS_ANY || is_listed(b, host)) return 1;
    if (b->rule == BOUNDS_LISTED) return 0;
    if (!addr) return 1;
    unsigned networks = b->networks;
    /* The URL's host may be a tunnel or a container's port: the servers behind
     * it name each other by their private addresses. */
    if (networks & NETWORK_LOOPBACK) networks |= NETWORK_PRIVATE;
    return (hf__redis_network_of(addr) & networks) != 0;
}

int hf__redis_bounds_allow_text(const struct bounds *b, const char *host)
{
    struct resolved numeric;
    int is_name = hf__resolve_numeric(host, 1, &numeric) != 0;
    return hf__redis_bounds_allow(b, host, is_name ? NULL : &numeric.addrs[0]);
}

const char *hf__redis_bounds_text(const struct bounds *b)
{
    return b->rule == BOUNDS_LISTED
               ? "redirect: a server named it, and neither the URL nor "
                 "redirect_hosts= does"
               : "redirect: a server named it, and it is outside of the URL's "
                 "network: list it in redirect_hosts=, or allow it by "
                 "redirect=any";
}
