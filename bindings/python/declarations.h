/* Made from include/holdfast by declarations.sh. */
#define HF_BARRIER_PARTIES_MAX 1000
#define HF_THREAD_STACK_MIN 65536
#define HF_CLIENT_OWN_LOOP 1
#define HF_CAP_FENCE 0x01
#define HF_CAP_LEASE 0x02
#define HF_CAP_KERNEL 0x08
#define HF_CAP_DETACHED 0x10
#define HF_CAP_WATCH 0x20
#define HF_CAP_BREAK 0x40
#define HF_CAP_LIST 0x80
#define HF_CAP_BALLOT 0x100
#define HF_CAP_VALUE 0x200
#define HF_CAP_GUARD 0x400
#define HF_CAP_RW 0x800
#define HF_CAP_QUEUE 0x1000
#define HF_CAP_PERMIT 0x2000
#define HF_CAP_TALLY 0x4000
#define HF_CAP_IN_ORDER 0x8000
#define HF_CAP_STOCK 0x10000
#define HF_CAP_LEDGER 0x20000
#define HF_URL_PASSWORD 0x01
#define HF_URL_QUORUM 0x02
#define HF_URL_SENTINEL 0x04
#define HF_URL_CLUSTER 0x08
#define HF_URL_PROCESS 0x10
#define HF_URL_STRING 0x20
#define HF_URL_OPTIONS 0x40
#define HF_URL_HOST 0x80
#define HF_URL_RELATIVE 0x100
#define HF_URL_LOGIN 0x200
#define HF_ELECTION_NAME_MAX 480
#define HF_ELECTION_VALUE_MAX 60000
#define HF_CAMPAIGN_TRY 1
#define HF_AWAIT_TRY 1
#define HF_TICKET_MAX 192
#define HF_LATCH_MAX 1000000000
#define HF_LATCH_OURS 1
#define HF_NAME_MAX 512
#define HF_LEASE_MS_MAX 86400000
#define HF_LEASE_MS_MIN 10
#define HF_ACQUIRE_FIXED 1
#define HF_ACQUIRE_TRY 32
#define HF_OWNER_MAX 128
#define HF_HOST_MAX 64
#define HF_LABEL_MAX 64
#define HF_LAYOUT_MAX 16
#define HF_MULTI_MAX 64
#define HF_ONCE_NAME_MAX 480
#define HF_ONCE_RESULT_MAX 60000
#define HF_ONCE_TRY 2
#define HF_PROBE_SAMPLE_MS_MAX 3600000
#define HF_QUORUM_NODES_MAX 16
#define HF_QUORUM_FORCE 1
#define HF_QUORUM_DURABLE 2
#define HF_PERMITS_MAX 1000
#define HF_SEMAPHORE_MAX 1000000000
#define HF_SEMAPHORE_SLOTS_MAX 64
#define HF_SEMAPHORE_PLAIN 1
#define HF_SEMAPHORE_OURS 2
#define HF_SEMAPHORE_ANYWAY 1
#define HF_SEMAPHORE_IF_SET 2
#define HF_STATS_BINS 32
#define HF_ERROR_TEXT_MAX 256
#define HF_STOCK_NAME_MAX 200
#define HF_STOCK_USER_MAX 256
#define HF_STOCK_ID_MAX 128
#define HF_STOCK_SEGMENTS_MAX 64
#define HF_STOCK_TOKEN_MAX 832
#define HF_STOCK_RECORDS_MAX 256
#define HF_VALUE_MAX 65536
#define HF_UPDATE_TRY 1
#define HF_VERSION_MAJOR 0
#define HF_VERSION_MINOR 1
#define HF_VERSION_PATCH 0
#define HF_WAIT_TRY 1
enum hf_status {
    HF_OK = (0), HF_TAKEN = (-1), HF_TIMEOUT = (-2), HF_UNAVAILABLE = (-3), HF_LOST = (-4), HF_CANCELLED = (-5), HF_EXPIRED = (-6), HF_INVALID = (-7), HF_NOT_OWNER = (-8), HF_CONFLICT = (-9), HF_DENIED = (-10), HF_UNSUPPORTED = (-11), HF_FORKED = (-12), HF_CLOSED = (-13), HF_NOMEM = (-14), HF_INTERNAL = (-15), HF_CHANGED = (-16), HF_STALE = (-17), HF_EMPTY = (-18),
};
enum hf_advice {
    HF_ADVICE_NONE = 0,
    HF_ADVICE_RETRY = 1,
    HF_ADVICE_STOP = 2,
    HF_ADVICE_FIX = 3
};
struct hf_error {
    int status;
    int node;
    int sys_errno;
    char text[256];
    int unasked;
    int reserved[8];
};
 const char *hf_status_name(int status);
 const char *hf_status_text(int status);
 int hf_status_advice(int status);
 const char *hf_version(void);
 int hf_version_num(void);
typedef struct hf_client hf_client;
typedef struct hf_cancel hf_cancel;
typedef struct hf_hold hf_hold;
enum hf_state {
    HF_STATE_NONE = 0,
    HF_STATE_HELD = 1,
    HF_STATE_AT_RISK = 2,
    HF_STATE_LOST = 3
};
struct hf_event {
    uint32_t struct_size;
    int state;
    int status;
    uint64_t holder;
    hf_hold *hold;
    uint64_t fence;
    int64_t valid_ms;
    char name[513];
    size_t name_len;
    char text[256];
};
typedef void (*hf_state_fn)(const struct hf_event *ev, void *user);
enum hf_log_level {
    HF_LOG_ERROR = 1,
    HF_LOG_WARN = 2,
    HF_LOG_INFO = 3,
    HF_LOG_DEBUG = 4
};
typedef void (*hf_log_fn)(int level, const char *line, void *user);
struct hf_allocator {
    void *(*allocate)(size_t size, void *user);
    void *(*resize)(void *ptr, size_t size, void *user);
    void (*release)(void *ptr, void *user);
    void *user;
};
enum hf_fallback {
    HF_FALLBACK_DEFAULT = 0,
    HF_FALLBACK_FAIL = 1,
    HF_FALLBACK_WAIT = 2,
    HF_FALLBACK_LOCAL = 3
};
struct hf_client_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t lease_ms;
    int64_t timeout_ms;
    int64_t patience_ms;
    int64_t drift_ppm;
    int64_t spin_us;
    const char *user;
    const char *password;
    const char *label;
    struct hf_allocator allocator;
    hf_log_fn log;
    void *log_user;
    int log_level;
    hf_state_fn on_state;
    void *state_user;
    int32_t fallback;
    int32_t handover;
    int64_t handover_ms;
    const char *password_file;
};
 int hf_client_open(const char *url,
                          const struct hf_client_options *options,
                          hf_client **out, struct hf_error *err);
 void hf_client_close(hf_client *client);
 unsigned hf_client_caps(const hf_client *client);
 const char *hf_client_url(const hf_client *client);
 int hf_client_settings(const hf_client *client,
                              struct hf_client_options *out,
                              struct hf_error *err);
 unsigned hf_url_traits(const char *url);
enum hf_link {
    HF_LINK_UP = 0,
    HF_LINK_CONNECTING = 1,
    HF_LINK_DOWN = 2,
    HF_LINK_REFUSED = 3,
    HF_LINK_ASKING = 4,
    HF_LINK_BLANK = 5,
    HF_LINK_QUARANTINED = 6,
    HF_LINK_CLOCK = 7
};
struct hf_node {
    uint32_t struct_size;
    char url[256];
    int up;
    int settled;
    int64_t quarantine_left_ms;
    int status;
    char text[256];
    int64_t clock_offset_ms;
    char identity[96];
    int durable;
    int link;
};
typedef void (*hf_node_fn)(const struct hf_node *node, void *user);
 int hf_client_nodes(hf_client *client, hf_node_fn fn, void *user);
 uint64_t hf_holder_self(void);
 uint64_t hf_holder_new(void);
 int hf_client_event_fd(hf_client *client);
 int hf_client_next_event(hf_client *client, struct hf_event *out);
 int hf_client_fd(hf_client *client);
 int hf_client_process(hf_client *client);
 int64_t hf_client_timeout_ms(hf_client *client);
 int hf_cancel_open(hf_client *client, hf_cancel **out);
 void hf_cancel_fire(hf_cancel *cancel);
 void hf_cancel_reset(hf_cancel *cancel);
 void hf_cancel_close(hf_cancel *cancel);
enum hf_guarantee {
    HF_GUARANTEE_STORE = 0,
    HF_GUARANTEE_LOCAL = 1
};
typedef void (*hf_hold_fn)(hf_hold *hold, int status,
                           const struct hf_error *err, void *user);
typedef void (*hf_hold_state_fn)(hf_hold *hold, const struct hf_event *ev,
                                 void *user);
 uint64_t hf_hold_fence(const hf_hold *hold);
 int64_t hf_hold_valid_ms(const hf_hold *hold);
 int hf_hold_state(const hf_hold *hold);
 void hf_hold_why(const hf_hold *hold, char text[256]);
 int64_t hf_hold_count(const hf_hold *hold);
 int64_t hf_hold_lease_ms(const hf_hold *hold);
 const char *hf_hold_name(const hf_hold *hold);
 int hf_hold_guarantee(const hf_hold *hold);
 int hf_hold_replicas(const hf_hold *hold);
 size_t hf_hold_parts(const hf_hold *hold);
 hf_hold *hf_hold_part(hf_hold *hold, size_t i);
 int hf_hold_extend(hf_hold *hold, int64_t lease_ms,
                          struct hf_error *err);
 int hf_hold_extend_start(hf_hold *hold, int64_t lease_ms, hf_hold_fn cb,
                                void *user, struct hf_error *err);
 int hf_hold_feed(hf_hold *hold);
 int hf_hold_release(hf_hold *hold, struct hf_error *err);
 int hf_hold_release_start(hf_hold *hold, hf_hold_fn cb, void *user,
                                 struct hf_error *err);
 int hf_hold_on_state(hf_hold *hold, hf_hold_state_fn fn, void *user,
                            struct hf_error *err);
 int hf_hold_ticket(hf_hold *hold, char *ticket, size_t size,
                          struct hf_error *err);
 int hf_hold_inherit(hf_hold *hold, int *out_fd, struct hf_error *err);
typedef struct hf_lock hf_lock;
enum hf_kind {
    HF_KIND_PLAIN = 0,
    HF_KIND_READ = 1,
    HF_KIND_WRITE = 2,
    HF_KIND_PERMIT = 3
};
enum hf_order {
    HF_ORDER_ANY = 0,
    HF_ORDER_FAIR = 1,
    HF_ORDER_WRITERS = 2
};
struct hf_lock_options {
    uint32_t struct_size;
    int32_t kind;
    int32_t order;
};
enum hf_backoff {
    HF_BACKOFF_NONE = 0,
    HF_BACKOFF_EXPONENTIAL = 1,
    HF_BACKOFF_CONSTANT = 2,
    HF_BACKOFF_JITTER = 3
};
struct hf_acquire_options {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t holder;
    int64_t wait_ms;
    int64_t lease_ms;
    hf_cancel *cancel;
    int64_t renew_ms;
    int64_t max_hold_ms;
    int64_t feed_ms;
    int64_t backoff_ms;
    int64_t backoff_max_ms;
    int32_t backoff;
    int32_t backoff_factor;
    int64_t permits;
};
struct hf_info {
    uint32_t struct_size;
    int locked;
    int shared;
    int mine;
    int foreign;
    int detached;
    int64_t ttl_ms;
    int64_t count;
    int64_t owner_count;
    uint64_t fence;
    int64_t since_ms;
    int64_t now_ms;
    int64_t waiters;
    int64_t pid;
    char owner[128];
    char host[64];
    char label[64];
    char layout[16];
    int guarantee;
    int nodes;
    int nodes_heard;
    int nodes_agree;
    int64_t queued;
    int64_t position;
    int64_t readers;
    int64_t permits;
    int64_t available;
    int64_t node;
};
typedef void (*hf_acquired_fn)(hf_lock *lock, int status, hf_hold *hold,
                               const struct hf_error *err, void *user);
typedef void (*hf_inspected_fn)(hf_lock *lock, int status,
                                const struct hf_info *info,
                                const struct hf_error *err, void *user);
typedef void (*hf_broken_fn)(hf_lock *lock, int status, int was_locked,
                             const struct hf_error *err, void *user);
 int hf_lock_open(hf_client *client, const char *name, hf_lock **out,
                        struct hf_error *err);
 int hf_lock_open_n(hf_client *client, const char *name, size_t name_len,
                          hf_lock **out, struct hf_error *err);
 int hf_lock_open_as(hf_client *client, const char *name,
                           const struct hf_lock_options *options, hf_lock **out,
                           struct hf_error *err);
 int hf_lock_kind(const hf_lock *lock);
 void hf_lock_close(hf_lock *lock);
 const char *hf_lock_name(const hf_lock *lock);
 int hf_lock_acquire(hf_lock *lock,
                           const struct hf_acquire_options *options,
                           hf_hold **hold, struct hf_error *err);
 int hf_lock_acquire_start(hf_lock *lock,
                                 const struct hf_acquire_options *options,
                                 hf_acquired_fn cb, void *user,
                                 struct hf_error *err);
 int hf_lock_try(hf_lock *lock, hf_hold **hold, struct hf_error *err);
 int hf_lock_release(hf_lock *lock, int64_t *count, struct hf_error *err);
 int hf_lock_break(hf_lock *lock, int *was_locked, struct hf_error *err);
 int hf_lock_break_start(hf_lock *lock, hf_broken_fn cb, void *user,
                               struct hf_error *err);
 int hf_lock_inspect(hf_lock *lock, struct hf_info *info,
                           struct hf_error *err);
 int hf_lock_inspect_start(hf_lock *lock, hf_inspected_fn cb, void *user,
                                 struct hf_error *err);
 int hf_lock_is_locked(hf_lock *lock, int *out, struct hf_error *err);
 int hf_lock_is_mine(hf_lock *lock, int *out, struct hf_error *err);
 int hf_lock_hold_count(hf_lock *lock, int64_t *out,
                              struct hf_error *err);
 int hf_lock_ttl_ms(hf_lock *lock, int64_t *out, struct hf_error *err);
 int hf_lock_attach(hf_lock *lock, const char *ticket, int64_t lease_ms,
                          hf_hold **hold, struct hf_error *err);
 int hf_lock_attach_start(hf_lock *lock, const char *ticket,
                                int64_t lease_ms, hf_acquired_fn cb, void *user,
                                struct hf_error *err);
 int hf_ticket_release(hf_lock *lock, const char *ticket,
                             struct hf_error *err);
typedef void (*hf_ticket_released_fn)(hf_lock *lock, int status,
                                      const struct hf_error *err, void *user);
 int hf_ticket_release_start(hf_lock *lock, const char *ticket,
                                   hf_ticket_released_fn cb, void *user,
                                   struct hf_error *err);
struct hf_list_row {
    uint32_t struct_size;
    const char *name;
    size_t name_len;
    const struct hf_info *info;
};
typedef int (*hf_list_fn)(const struct hf_list_row *row, void *user);
 int hf_client_list(hf_client *client, const char *match, hf_list_fn fn,
                          void *user, struct hf_error *err);
typedef void (*hf_listed_fn)(hf_client *client, int status,
                             const struct hf_error *err, void *user);
 int hf_client_list_start(hf_client *client, const char *match,
                                hf_list_fn fn, hf_listed_fn cb, void *user,
                                struct hf_error *err);
struct hf_wait_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t wait_ms;
    hf_cancel *cancel;
};
typedef struct hf_barrier hf_barrier;
struct hf_passed {
    uint32_t struct_size;
    uint64_t generation;
    int64_t index;
};
typedef void (*hf_passed_fn)(hf_barrier *barrier, int status,
                             const struct hf_passed *passed,
                             const struct hf_error *err, void *user);
 int hf_barrier_open(hf_client *client, const char *name, int64_t parties,
                           hf_barrier **out, struct hf_error *err);
 void hf_barrier_close(hf_barrier *barrier);
 const char *hf_barrier_name(const hf_barrier *barrier);
 int hf_barrier_wait(hf_barrier *barrier,
                           const struct hf_wait_options *options,
                           struct hf_passed *passed, struct hf_error *err);
 int hf_barrier_wait_start(hf_barrier *barrier,
                                 const struct hf_wait_options *options,
                                 hf_passed_fn cb, void *user,
                                 struct hf_error *err);
 int hf_barrier_waiting(hf_barrier *barrier, int64_t *waiting,
                              struct hf_error *err);
typedef struct hf_election hf_election;
typedef void (*hf_election_fn)(hf_election *election, const struct hf_event *ev,
                               void *user);
struct hf_election_options {
    uint32_t struct_size;
    int32_t order;
    int64_t lease_ms;
    int64_t renew_ms;
    hf_election_fn on_state;
    void *user;
};
struct hf_campaign_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t wait_ms;
    hf_cancel *cancel;
    const void *value;
    size_t value_len;
};
struct hf_leader {
    uint32_t struct_size;
    int is_led;
    int is_me;
    uint64_t fence;
    int64_t since_ms;
    int64_t now_ms;
    int64_t ttl_ms;
    int64_t pid;
    char owner[128];
    char host[64];
    char label[64];
    uint64_t version;
    size_t len;
    char *data;
};
struct hf_await_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t wait_ms;
    int64_t look_ms;
    hf_cancel *cancel;
};
typedef void (*hf_campaigned_fn)(hf_election *election, int status,
                                 hf_hold *hold, const struct hf_error *err,
                                 void *user);
typedef void (*hf_resigned_fn)(hf_election *election, int status,
                               const struct hf_error *err, void *user);
typedef void (*hf_awaited_fn)(hf_election *election, int status,
                              const struct hf_leader *leader,
                              const struct hf_error *err, void *user);
 int hf_election_open(hf_client *client, const char *name,
                            const struct hf_election_options *options,
                            hf_election **out, struct hf_error *err);
 void hf_election_close(hf_election *election);
 int hf_election_campaign(hf_election *election,
                                const struct hf_campaign_options *options,
                                hf_hold **hold, struct hf_error *err);
 int hf_election_campaign_start(hf_election *election,
                                      const struct hf_campaign_options *options,
                                      hf_campaigned_fn cb, void *user,
                                      struct hf_error *err);
 int hf_election_resign(hf_election *election, struct hf_error *err);
 int hf_election_resign_start(hf_election *election, hf_resigned_fn cb,
                                    void *user, struct hf_error *err);
 int hf_election_publish(hf_election *election, const void *value,
                               size_t value_len, struct hf_error *err);
typedef void (*hf_published_fn)(hf_election *election, int status,
                                const struct hf_error *err, void *user);
 int hf_election_publish_start(hf_election *election, const void *value,
                                     size_t value_len, hf_published_fn cb,
                                     void *user, struct hf_error *err);
 int hf_election_look(hf_election *election, struct hf_leader *out,
                            struct hf_error *err);
 int hf_election_await(hf_election *election,
                             const struct hf_leader *seen,
                             const struct hf_await_options *options,
                             struct hf_leader *out, struct hf_error *err);
 int hf_election_await_start(hf_election *election,
                                   const struct hf_leader *seen,
                                   const struct hf_await_options *options,
                                   hf_awaited_fn cb, void *user,
                                   struct hf_error *err);
 void hf_leader_free(hf_election *election, struct hf_leader *leader);
 hf_hold *hf_election_hold(hf_election *election);
struct hf_value {
    uint32_t struct_size;
    uint64_t version;
    int64_t ttl_ms;
    int64_t now_ms;
    size_t len;
    char *data;
};
 int hf_value_read(hf_client *client, const char *key,
                         struct hf_value *out, struct hf_error *err);
 void hf_value_free(hf_client *client, struct hf_value *value);
 int hf_value_write(hf_client *client, const char *key, uint64_t version,
                          const void *data, size_t len, int64_t ttl_ms,
                          uint64_t *written, struct hf_error *err);
 int hf_value_delete(hf_client *client, const char *key, uint64_t version,
                           struct hf_error *err);
typedef void (*hf_value_read_fn)(hf_client *client, int status,
                                 const struct hf_value *value,
                                 const struct hf_error *err, void *user);
typedef void (*hf_value_written_fn)(hf_client *client, int status,
                                    uint64_t version,
                                    const struct hf_error *err, void *user);
 int hf_value_read_start(hf_client *client, const char *key,
                               hf_value_read_fn cb, void *user,
                               struct hf_error *err);
 int hf_value_write_start(hf_client *client, const char *key,
                                uint64_t version, const void *data, size_t len,
                                int64_t ttl_ms, hf_value_written_fn cb,
                                void *user, struct hf_error *err);
 int hf_value_delete_start(hf_client *client, const char *key,
                                 uint64_t version, hf_value_written_fn cb,
                                 void *user, struct hf_error *err);
struct hf_value_next {
    uint32_t struct_size;
    int remove;
    const void *data;
    size_t len;
    int64_t ttl_ms;
};
typedef int (*hf_value_fn)(const struct hf_value *now,
                           struct hf_value_next *next, void *user);
struct hf_update_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t wait_ms;
    int64_t tries;
};
 int hf_value_update(hf_client *client, const char *key, hf_value_fn fn,
                           void *user, const struct hf_update_options *options,
                           uint64_t *written, struct hf_error *err);
 int hf_value_update_start(hf_client *client, const char *key,
                                 hf_value_fn fn,
                                 const struct hf_update_options *options,
                                 hf_value_written_fn cb, void *user,
                                 struct hf_error *err);
 int hf_guard_file_replace(const char *path, uint64_t token,
                                 const void *data, size_t len,
                                 struct hf_error *err);
 int hf_guard_file_rename(const char *path, uint64_t token,
                                const char *new_path, struct hf_error *err);
 int hf_guard_file_touch(const char *path, uint64_t token,
                               struct hf_error *err);
 int hf_guard_file_token(const char *path, uint64_t *out,
                               struct hf_error *err);
 int hf_guard_touch(hf_client *client, const char *key, uint64_t token,
                          struct hf_error *err);
 int hf_guard_set(hf_client *client, const char *key, uint64_t token,
                        const void *data, size_t len, int64_t ttl_ms,
                        struct hf_error *err);
 int hf_guard_delete(hf_client *client, const char *key, uint64_t token,
                           struct hf_error *err);
 int hf_guard_token(hf_client *client, const char *key, uint64_t *out,
                          struct hf_error *err);
 int hf_guard_read(hf_client *client, const char *key,
                         struct hf_value *out, struct hf_error *err);
 int hf_guard_claim(hf_client *client, const char *key, uint64_t token,
                          struct hf_error *err);
 int hf_guard_set_claimed(hf_client *client, const char *key,
                                uint64_t token, const void *data, size_t len,
                                int64_t ttl_ms, struct hf_error *err);
typedef void (*hf_guard_fn)(hf_client *client, int status, uint64_t token,
                            const struct hf_error *err, void *user);
 int hf_guard_touch_start(hf_client *client, const char *key,
                                uint64_t token, hf_guard_fn cb, void *user,
                                struct hf_error *err);
 int hf_guard_set_start(hf_client *client, const char *key,
                              uint64_t token, const void *data, size_t len,
                              int64_t ttl_ms, hf_guard_fn cb, void *user,
                              struct hf_error *err);
 int hf_guard_delete_start(hf_client *client, const char *key,
                                 uint64_t token, hf_guard_fn cb, void *user,
                                 struct hf_error *err);
 int hf_guard_token_start(hf_client *client, const char *key,
                                hf_guard_fn cb, void *user,
                                struct hf_error *err);
 int hf_guard_read_start(hf_client *client, const char *key,
                               hf_value_read_fn cb, void *user,
                               struct hf_error *err);
 int hf_guard_claim_start(hf_client *client, const char *key,
                                uint64_t token, hf_guard_fn cb, void *user,
                                struct hf_error *err);
 int hf_guard_set_claimed_start(hf_client *client, const char *key,
                                      uint64_t token, const void *data,
                                      size_t len, int64_t ttl_ms,
                                      hf_guard_fn cb, void *user,
                                      struct hf_error *err);
 const char *hf_guard_lua(void);
enum hf_guard_dialect {
    HF_GUARD_POSTGRES = 1,
    HF_GUARD_MARIADB = 2,
    HF_GUARD_SQLITE = 3
};
enum hf_guard_statement {
    HF_GUARD_CREATE = 1,
    HF_GUARD_CHECK = 2,
    HF_GUARD_TOKEN = 3,
    HF_GUARD_CLAIM = 4,
    HF_GUARD_STILL = 5,
    HF_GUARD_VERIFY = 6
};
 const char *hf_guard_sql(int dialect, int statement);
typedef struct hf_latch hf_latch;
typedef void (*hf_latch_fn)(hf_latch *latch, int status, int64_t left,
                            const struct hf_error *err, void *user);
typedef void (*hf_latch_waited_fn)(hf_latch *latch, int status,
                                   const struct hf_error *err, void *user);
 int hf_latch_open(hf_client *client, const char *name, hf_latch **out,
                         struct hf_error *err);
 int hf_latch_open_as(hf_client *client, const char *name, uint32_t flags,
                            hf_latch **out, struct hf_error *err);
 void hf_latch_close(hf_latch *latch);
 const char *hf_latch_name(const hf_latch *latch);
 int hf_latch_set(hf_latch *latch, int64_t count, struct hf_error *err);
 int hf_latch_down(hf_latch *latch, int64_t *left, struct hf_error *err);
 int hf_latch_count(hf_latch *latch, int64_t *left, struct hf_error *err);
 int hf_latch_delete(hf_latch *latch, int *was_set, struct hf_error *err);
 int hf_latch_wait(hf_latch *latch, const struct hf_wait_options *options,
                         struct hf_error *err);
 int hf_latch_set_start(hf_latch *latch, int64_t count, hf_latch_fn cb,
                              void *user, struct hf_error *err);
 int hf_latch_down_start(hf_latch *latch, hf_latch_fn cb, void *user,
                               struct hf_error *err);
 int hf_latch_count_start(hf_latch *latch, hf_latch_fn cb, void *user,
                                struct hf_error *err);
 int hf_latch_delete_start(hf_latch *latch, hf_latch_fn cb, void *user,
                                 struct hf_error *err);
 int hf_latch_wait_start(hf_latch *latch,
                               const struct hf_wait_options *options,
                               hf_latch_waited_fn cb, void *user,
                               struct hf_error *err);
typedef struct hf_multi hf_multi;
typedef void (*hf_multi_acquired_fn)(hf_multi *multi, int status, hf_hold *hold,
                                     const struct hf_error *err, void *user);
 int hf_multi_open(hf_lock *const *locks, size_t len, hf_multi **out,
                         struct hf_error *err);
 void hf_multi_close(hf_multi *multi);
 int hf_multi_acquire(hf_multi *multi,
                            const struct hf_acquire_options *options,
                            hf_hold **hold, struct hf_error *err);
 int hf_multi_try(hf_multi *multi, hf_hold **hold, struct hf_error *err);
 int hf_multi_acquire_start(hf_multi *multi,
                                  const struct hf_acquire_options *options,
                                  hf_multi_acquired_fn cb, void *user,
                                  struct hf_error *err);
typedef struct hf_once hf_once;
enum hf_once_outcome {
    HF_ONCE_MINE = 1,
    HF_ONCE_DONE = 2,
    HF_ONCE_RUNNING = 3,
    HF_ONCE_DIED = 4
};
struct hf_once_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t period_ms;
    int64_t keep_ms;
    int64_t wait_ms;
    int64_t lease_ms;
    int64_t min_hold_ms;
    int64_t max_hold_ms;
    hf_cancel *cancel;
    int64_t renew_ms;
};
struct hf_once_result {
    uint32_t struct_size;
    int outcome;
    int status;
    uint64_t fence;
    int64_t began_ms;
    int64_t ended_ms;
    int64_t valid_ms;
    int guarantee;
    char host[64];
    int64_t pid;
    size_t len;
    char *data;
};
 int hf_once_begin(hf_client *client, const char *name,
                         const struct hf_once_options *options, hf_once **out,
                         struct hf_once_result *result, struct hf_error *err);
typedef void (*hf_once_begun_fn)(hf_client *client, int status, hf_once *once,
                                 const struct hf_once_result *result,
                                 const struct hf_error *err, void *user);
 int hf_once_begin_start(hf_client *client, const char *name,
                               const struct hf_once_options *options,
                               hf_once_begun_fn cb, void *user,
                               struct hf_error *err);
 int hf_once_end(hf_once *once, int status, const void *data, size_t len,
                       struct hf_error *err);
typedef void (*hf_once_ended_fn)(hf_client *client, int status,
                                 const struct hf_error *err, void *user);
 int hf_once_end_start(hf_once *once, int status, const void *data,
                             size_t len, hf_once_ended_fn cb, void *user,
                             struct hf_error *err);
 int hf_once_abandon(hf_once *once, struct hf_error *err);
 int hf_once_abandon_start(hf_once *once, hf_once_ended_fn cb, void *user,
                                 struct hf_error *err);
 hf_hold *hf_once_hold(const hf_once *once);
 int hf_once_look(hf_client *client, const char *name,
                        const struct hf_once_options *options,
                        struct hf_once_result *result, struct hf_error *err);
typedef void (*hf_once_looked_fn)(hf_client *client, int status,
                                  const struct hf_once_result *result,
                                  const struct hf_error *err, void *user);
 int hf_once_look_start(hf_client *client, const char *name,
                              const struct hf_once_options *options,
                              hf_once_looked_fn cb, void *user,
                              struct hf_error *err);
 void hf_once_result_free(hf_client *client,
                                struct hf_once_result *result);
typedef struct hf_stock hf_stock;
enum hf_stock_verdict {
    HF_STOCK_RESERVED = 0,
    HF_STOCK_DUPLICATE = 1,
    HF_STOCK_REUSED = 2,
    HF_STOCK_LIMIT = 3,
    HF_STOCK_SOLD_OUT = 4,
    HF_STOCK_NOT_OPEN = 5,
    HF_STOCK_BUSY = 6
};
enum hf_stock_state {
    HF_STOCK_UNKNOWN = 0,
    HF_STOCK_HELD = 1,
    HF_STOCK_SOLD = 2,
    HF_STOCK_CANCELLED = 3,
    HF_STOCK_EXPIRED = 4
};
struct hf_stock_spec {
    uint32_t struct_size;
    uint32_t segments;
    int64_t quantity;
    int64_t limit;
    int64_t hold_ms;
    int64_t max_hold_ms;
    int64_t opens_ms;
    int64_t closes_ms;
};
struct hf_reservation {
    uint32_t struct_size;
    int32_t verdict;
    int32_t state;
    int32_t segment;
    int64_t units;
    int64_t order;
    int64_t left_ms;
    char token[832];
};
struct hf_stock_settled {
    uint32_t struct_size;
    int32_t state;
    int32_t changed;
    int32_t late;
    int64_t units;
    int64_t left_ms;
};
struct hf_stock_report {
    uint32_t struct_size;
    uint32_t segments;
    int32_t is_ended;
    int32_t is_balanced;
    int64_t quantity;
    int64_t received;
    int64_t given;
    int64_t available;
    int64_t held;
    int64_t sold;
    int64_t events;
    int64_t limit, hold_ms, max_hold_ms, opens_ms, closes_ms;
};
 int hf_stock_create(hf_client *client, const char *name,
                           const struct hf_stock_spec *spec,
                           struct hf_error *err);
 int hf_stock_open(hf_client *client, const char *name, hf_stock **out,
                         struct hf_error *err);
 void hf_stock_close(hf_stock *stock);
 int hf_stock_reserve(hf_stock *stock, const char *user, int64_t units,
                            const char *request_id, struct hf_reservation *out,
                            struct hf_error *err);
typedef void (*hf_stock_reserved_fn)(hf_stock *stock, int status,
                                     const struct hf_reservation *got,
                                     const struct hf_error *err, void *user);
 int hf_stock_reserve_start(hf_stock *stock, const char *user,
                                  int64_t units, const char *request_id,
                                  hf_stock_reserved_fn cb, void *data,
                                  struct hf_error *err);
 int hf_stock_confirm(hf_stock *stock, const char *token,
                            struct hf_stock_settled *out, struct hf_error *err);
 int hf_stock_cancel(hf_stock *stock, const char *token,
                           struct hf_stock_settled *out, struct hf_error *err);
 int hf_stock_extend(hf_stock *stock, const char *token, int64_t ms,
                           struct hf_stock_settled *out, struct hf_error *err);
enum hf_stock_settle {
    HF_STOCK_CONFIRM = 0,
    HF_STOCK_CANCEL = 1,
    HF_STOCK_EXTEND = 2
};
typedef void (*hf_stock_settled_fn)(hf_stock *stock, int status,
                                    const struct hf_stock_settled *settled,
                                    const struct hf_error *err, void *user);
 int hf_stock_settle_start(hf_stock *stock, int what, const char *token,
                                 int64_t ms, hf_stock_settled_fn cb, void *data,
                                 struct hf_error *err);
 int hf_stock_restock(hf_stock *stock, int64_t units,
                            const char *request_id, struct hf_error *err);
 int hf_stock_end(hf_stock *stock, struct hf_stock_report *report,
                        struct hf_error *err);
typedef void (*hf_stock_books_fn)(uint32_t segment,
                                  const struct hf_stock_report *books,
                                  void *user);
 int hf_stock_audit(hf_stock *stock, hf_stock_books_fn fn, void *user,
                          struct hf_stock_report *report, struct hf_error *err);
struct hf_orders_options {
    uint32_t struct_size;
    int32_t keep;
};
struct hf_orders_drained {
    uint32_t struct_size;
    int32_t losses;
    int64_t events;
    int64_t refused;
};
struct hf_orders_report {
    uint32_t struct_size;
    int32_t is_balanced;
    int64_t quantity;
    int64_t sold;
    int64_t orders;
    int64_t behind;
    int64_t missing;
    int64_t refused;
    int64_t refused_units;
    int64_t lost;
};
 int hf_orders_install(hf_client *database, struct hf_error *err);
 int hf_orders_drain(hf_stock *stock, hf_hold *hold, hf_client *database,
                           const struct hf_orders_options *options,
                           struct hf_orders_drained *out, struct hf_error *err);
 int hf_orders_audit(hf_stock *stock, hf_client *database,
                           struct hf_orders_report *out, struct hf_error *err);
struct hf_quorum_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t max_lease_ms;
    int64_t timeout_ms;
    const char *user;
    const char *password;
    const char *password_file;
};
struct hf_quorum_node {
    uint32_t struct_size;
    char url[256];
    int status;
    int changed;
    int durable;
    int64_t left_ms;
    int64_t max_lease_ms;
    char identity[96];
    char text[256];
};
typedef void (*hf_quorum_fn)(const struct hf_quorum_node *node, void *user);
 int hf_quorum_init(const char *url,
                          const struct hf_quorum_options *options,
                          hf_quorum_fn fn, void *user, struct hf_error *err);
 int hf_quorum_replace(const char *url, const char *old_url,
                             const char *new_url,
                             const struct hf_quorum_options *options,
                             hf_quorum_fn fn, void *user, struct hf_error *err);
typedef struct hf_probe hf_probe;
struct hf_probe_options {
    uint32_t struct_size;
    uint32_t flags;
    int64_t sample_ms;
    int64_t timeout_ms;
    const char *user;
    const char *password;
    const char *password_file;
};
enum hf_probe_member {
    HF_PROBE_ALONE = 0,
    HF_PROBE_UNKNOWN,
    HF_PROBE_UNMARKED,
    HF_PROBE_OURS,
    HF_PROBE_OTHERS
};
struct hf_probe_node {
    uint32_t struct_size;
    char url[256];
    int status;
    char text[256];
    int answers;
    int64_t rtt_us;
    int samples;
    int64_t offset_us;
    int64_t skew_us;
    int64_t rate_ppm;
    int64_t rate_error_ppm;
    int64_t step_us;
    int member;
    int64_t votes_in_ms;
    int64_t max_lease_ms;
    int durable;
    char identity[96];
    const char *facts;
};
 int hf_probe_open(const char *url,
                         const struct hf_probe_options *options, hf_probe **out,
                         struct hf_error *err);
 void hf_probe_close(hf_probe *probe);
 int hf_probe_len(const hf_probe *probe);
 const struct hf_probe_node *hf_probe_node(const hf_probe *probe, int i);
 int hf_probe_quorum(const hf_probe *probe);
 int64_t hf_probe_drift_ppm(const hf_probe *probe);
 int hf_probe_left_out(const hf_probe *probe);
 int hf_probe_fact(const struct hf_probe_node *node, const char *name,
                         char *out, size_t size);
 int hf_schema_install(const char *url,
                             const struct hf_client_options *options,
                             struct hf_error *err);
 int hf_schema_text(const char *url,
                          void (*each)(const char *statement, void *user),
                          void *user, struct hf_error *err);
typedef struct hf_semaphore hf_semaphore;
struct hf_semaphore_options {
    uint32_t struct_size;
    uint32_t flags;
    int32_t order;
    int64_t permits;
};
struct hf_semaphore_state {
    uint32_t struct_size;
    int is_set;
    int is_done;
    int64_t available;
    int64_t capacity;
    int64_t taken;
};
typedef void (*hf_semaphore_acquired_fn)(hf_semaphore *sem, int status,
                                         hf_hold *hold,
                                         const struct hf_error *err,
                                         void *user);
typedef void (*hf_semaphore_fn)(hf_semaphore *sem, int status,
                                const struct hf_semaphore_state *state,
                                const struct hf_error *err, void *user);
 int hf_semaphore_open(hf_client *client, const char *name,
                             const struct hf_semaphore_options *options,
                             hf_semaphore **out, struct hf_error *err);
 void hf_semaphore_close(hf_semaphore *sem);
 hf_lock *hf_semaphore_lock(hf_semaphore *sem);
 int hf_semaphore_acquire(hf_semaphore *sem,
                                const struct hf_acquire_options *options,
                                hf_hold **hold, struct hf_error *err);
 int hf_semaphore_try(hf_semaphore *sem, hf_hold **hold,
                            struct hf_error *err);
 int hf_semaphore_acquire_start(hf_semaphore *sem,
                                      const struct hf_acquire_options *options,
                                      hf_semaphore_acquired_fn cb, void *user,
                                      struct hf_error *err);
 int hf_semaphore_attach(hf_semaphore *sem, const char *ticket,
                               int64_t lease_ms, hf_hold **hold,
                               struct hf_error *err);
 int hf_semaphore_attach_start(hf_semaphore *sem, const char *ticket,
                                     int64_t lease_ms,
                                     hf_semaphore_acquired_fn cb, void *user,
                                     struct hf_error *err);
 int hf_semaphore_state(hf_semaphore *sem, struct hf_semaphore_state *out,
                              struct hf_error *err);
 int hf_semaphore_try_set(hf_semaphore *sem, int64_t number,
                                struct hf_semaphore_state *out,
                                struct hf_error *err);
 int hf_semaphore_set(hf_semaphore *sem, int64_t number, uint32_t flags,
                            struct hf_semaphore_state *out,
                            struct hf_error *err);
 int hf_semaphore_add(hf_semaphore *sem, int64_t number, uint32_t flags,
                            struct hf_semaphore_state *out,
                            struct hf_error *err);
 int hf_semaphore_drain(hf_semaphore *sem, struct hf_semaphore_state *out,
                              struct hf_error *err);
 int hf_semaphore_delete(hf_semaphore *sem,
                               struct hf_semaphore_state *out,
                               struct hf_error *err);
enum hf_semaphore_change {
    HF_SEMAPHORE_LOOK = 0,
    HF_SEMAPHORE_SET = 1,
    HF_SEMAPHORE_TRY_SET = 2,
    HF_SEMAPHORE_ADD = 3,
    HF_SEMAPHORE_DRAIN = 4,
    HF_SEMAPHORE_DELETE = 5
};
 int hf_semaphore_change_start(hf_semaphore *sem, int change,
                                     int64_t number, uint32_t flags,
                                     hf_semaphore_fn cb, void *user,
                                     struct hf_error *err);
struct hf_stats {
    uint32_t struct_size;
    int32_t nodes_up;
    int64_t held;
    int64_t waiting;
    uint64_t granted;
    uint64_t taken;
    uint64_t timed_out;
    uint64_t unavailable;
    uint64_t cancelled;
    uint64_t failed;
    uint64_t renewed;
    uint64_t renew_failed;
    uint64_t at_risk;
    uint64_t lost;
    uint64_t connects;
    uint64_t disconnects;
    uint64_t wait_us;
    uint64_t hold_us;
    uint64_t renew_us;
    uint64_t wait_bins[32];
    uint64_t hold_bins[32];
    uint64_t renew_bins[32];
};
 int hf_client_stats(hf_client *client, struct hf_stats *out,
                           struct hf_error *err);
