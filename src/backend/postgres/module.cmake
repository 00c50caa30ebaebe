# module.cmake: the postgres store needs libpq, with its pipelines (14).
pkg_check_modules(LIBPQ IMPORTED_TARGET libpq>=14)
hf_backend(postgres MODULE IF LIBPQ_FOUND
  SCHEMES postgres postgresql
  WITHOUT "install the package libpq-dev, 14 or later, and build holdfast again"
  PROBES postgres=postgres://127.0.0.1:1/
  CONTRACT postgres postgres-session postgres-shedlock
  PKG LIBPQ
  TESTS fault/mixed
  USES net rules backend/sql)
