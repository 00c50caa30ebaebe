# module.cmake: the mysql store needs libmariadb, with its calls that do not
# block (3.1).
pkg_check_modules(LIBMARIADB IMPORTED_TARGET libmariadb>=3.1)
hf_backend(mysql MODULE IF LIBMARIADB_FOUND
  SCHEMES mysql mariadb
  WITHOUT "install the package libmariadb-dev, 3.1 or later, and build holdfast again"
  PROBES mysql=mysql://127.0.0.1:1/
  CONTRACT mysql mysql-session mysql-shedlock
  PKG LIBMARIADB
  USES net rules backend/sql)
