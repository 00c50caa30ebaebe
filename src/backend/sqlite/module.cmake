# module.cmake: the SQLite store needs libsqlite3.
pkg_check_modules(SQLITE IMPORTED_TARGET sqlite3>=3.31)
hf_backend(sqlite MODULE IF SQLITE_FOUND
  SCHEMES sqlite
  WITHOUT "install the package libsqlite3-dev and build holdfast again"
  PROBES sqlite=sqlite::probe:
  CONTRACT sqlite
  PKG SQLITE
  TESTS fault/mixed unit/backend/sql
  USES backend/sql rules)
