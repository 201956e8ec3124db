"""Every setting of the product, in groups; values come from the environment through env.py.

Operators find them, with ranges and defaults, in docs/operating.md; a test compares.
"""

from pathlib import Path
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from sourcegraph_site.env import (
    env_bool,
    env_directory,
    env_int,
    env_keys,
    env_list,
    env_listen,
    env_origin,
    env_rows,
    env_text,
    secret_key,
)
from sourcegraph_site.kernel.sign_in import allauth_settings, read_providers

BASE_DIR = Path(__file__).resolve().parent.parent

# --- Where we live -----------------------------------------------------------------------
DATA_ROOT = env_directory("SOURCEGRAPH_DATA_ROOT", BASE_DIR / "data")
LISTEN_HOST, LISTEN_PORT = env_listen("SOURCEGRAPH_LISTEN", "127.0.0.1:8080")
ORIGIN = env_origin("SOURCEGRAPH_ORIGIN", f"http://localhost:{LISTEN_PORT}")
PREFIX = "/sourcegraph/"
_origin = urlsplit(ORIGIN)
SECURE = _origin.scheme == "https"
LOOPBACK = _origin.hostname in ("localhost", "127.0.0.1", "::1")

# --- Secrets -----------------------------------------------------------------------------
SECRET_KEY = secret_key("SOURCEGRAPH_SECRET_KEY", DATA_ROOT)
# The deployment credential; active from 32 characters on.
API_TOKEN = env_text("SOURCEGRAPH_API_TOKEN")
if API_TOKEN and len(API_TOKEN) < 32:
    raise ImproperlyConfigured("SOURCEGRAPH_API_TOKEN is too short; write at least 32 characters.")

# --- Storage -----------------------------------------------------------------------------
MIN_FREE_BYTES = env_int("SOURCEGRAPH_MIN_FREE_BYTES", 1 << 30, low=0, high=1 << 50)
DATABASE_URL = env_text("DATABASE_URL", f"sqlite:///{DATA_ROOT}/sourcegraph.db")
REDIS_URL = env_text("REDIS_URL")
if REDIS_URL and not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    raise ImproperlyConfigured("REDIS_URL must start with redis://, rediss:// or unix://.")

try:
    _database = dj_database_url.parse(DATABASE_URL)
except (ValueError, KeyError, dj_database_url.ParseError) as exc:
    raise ImproperlyConfigured("DATABASE_URL is not a database address.") from exc
if _database["ENGINE"] == "django.db.backends.sqlite3":
    # One writer at a time is SQLite's nature: take the lock when a transaction starts, so
    # that it waits its turn instead of failing half-way; readers are never blocked (WAL).
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
elif _database["ENGINE"] != "django.db.backends.postgresql":
    raise ImproperlyConfigured("DATABASE_URL must be sqlite:///… or postgres://….")
_database["CONN_MAX_AGE"] = None  # a new connection costs more than most requests
_database["CONN_HEALTH_CHECKS"] = True
DATABASES = {"default": _database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "shared_cache"}
}

# --- Repositories ------------------------------------------------------------------------
# Directories below which file:// remotes are allowed (decision 10).
LOCAL_REMOTES = [Path(part).resolve() for part in env_list("SOURCEGRAPH_LOCAL_REMOTES", ":")]
# scheme://host[:port] entries that are allowed beside https, private addresses included.
ALLOWED_REMOTES = env_list("SOURCEGRAPH_ALLOWED_REMOTES", ",")
CODE_HOST = env_origin("SOURCEGRAPH_CODE_HOST", "https://github.com")
# Code sources that only the operator changes; fields as in docs/operating.md.
CODE_SOURCES = env_rows("SOURCEGRAPH_CODE_SOURCES")
# The site's token for the code source `github`.
GIT_TOKEN = env_text("SOURCEGRAPH_GIT_TOKEN")
# What encrypts tokens of code sources; the first encrypts, the others still decrypt. None: a
# file in the data root.
CREDENTIAL_KEYS = env_keys("SOURCEGRAPH_CREDENTIAL_KEY")
MAX_INDEXED_FILE_BYTES = env_int(
    "SOURCEGRAPH_MAX_INDEXED_FILE_BYTES", 2 << 20, low=1 << 10, high=16 << 20
)
INDEX_LARGE_GLOBS = env_list("SOURCEGRAPH_INDEX_LARGE_GLOBS", ",")
INDEX_WORKERS = env_int("SOURCEGRAPH_INDEX_WORKERS", 2, low=1, high=64)

# --- Limits ------------------------------------------------------------------------------
ANONYMOUS_PER_CLIENT = env_int("SOURCEGRAPH_ANONYMOUS_PER_CLIENT", 1200, low=0, high=10**9)
ANONYMOUS_TOTAL = env_int("SOURCEGRAPH_ANONYMOUS_TOTAL", 3000, low=0, high=10**9)
TRUSTED_PROXIES = env_int("SOURCEGRAPH_TRUSTED_PROXIES", 0, low=0, high=16)
SEARCH_SECONDS = 5.0
REQUEST_SECONDS = 30.0
SEARCH_CONCURRENCY = env_int("SOURCEGRAPH_SEARCH_CONCURRENCY", 8, low=1, high=256)
ANSWER_CACHE_BYTES = env_int("SOURCEGRAPH_ANSWER_CACHE_BYTES", 64 << 20, low=0, high=1 << 34)

# --- Jobs --------------------------------------------------------------------------------
JOB_LEASE_SECONDS = env_int("SOURCEGRAPH_JOB_LEASE_SECONDS", 45, low=1, high=3600)
WEB_PROCESSES = env_int("SOURCEGRAPH_WEB_PROCESSES", 2, low=1, high=64)
WEB_THREADS = env_int("SOURCEGRAPH_WEB_THREADS", 4, low=1, high=64)
JOB_PROCESSES = env_int("SOURCEGRAPH_JOB_PROCESSES", 2, low=1, high=64)

# --- Django ------------------------------------------------------------------------------
DEBUG = env_bool("SOURCEGRAPH_DEBUG", False)
ALLOWED_HOSTS = [_origin.hostname or "", *(["localhost", "127.0.0.1", "[::1]"] if LOOPBACK else [])]
ROOT_URLCONF = "sourcegraph_site.urls"
WSGI_APPLICATION = "sourcegraph_site.wsgi.application"
AUTH_USER_MODEL = "accounts.User"
SITE_NAME = "Source Graph"
USE_TZ = True
TIME_ZONE = "UTC"

INSTALLED_APPS = [
    "sourcegraph_site.apps.SiteConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.google",
    "allauth.socialaccount.providers.github",
    "allauth.socialaccount.providers.microsoft",
    "allauth.socialaccount.providers.openid_connect",
    "django_htmx",
    "csp",
    "sourcegraph_site.accounts",
    "sourcegraph_site.audit",
    "sourcegraph_site.jobs",
    "plugins",
    "repos",
    "readers",
    "search",
]

MIDDLEWARE = [
    "sourcegraph_site.web.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "sourcegraph_site.web.middleware.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
# All that an API call without our session cookie needs; wsgi.py chooses.
LEAN_MIDDLEWARE = [
    "sourcegraph_site.web.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
]
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "sourcegraph_site.web.context.site",
            ],
        },
    }
]

STATIC_URL = f"{PREFIX}static/"
STATIC_ROOT = Path(env_text("SOURCEGRAPH_STATIC_ROOT", str(DATA_ROOT / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "sourcegraph_site.web.storage.StaticStorage"},
}

# --- Languages ---------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LANGUAGE_COOKIE_NAME = "cs.lang"
LANGUAGE_COOKIE_PATH = PREFIX
LOCALE_PATHS = [BASE_DIR / "sourcegraph_site" / "locale"]
USE_I18N = True

# --- Sign-in -----------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
ACCOUNT_ADAPTER = "sourcegraph_site.accounts.adapter.AccountAdapter"
# Providers of identities beside our own passwords; fields as in docs/operating.md.
try:
    SIGN_IN_PROVIDERS = read_providers(env_rows("SOURCEGRAPH_SIGN_IN"))
except ValueError as exc:
    raise ImproperlyConfigured(f"SOURCEGRAPH_SIGN_IN: {exc}") from None
SOCIALACCOUNT_PROVIDERS = allauth_settings(SIGN_IN_PROVIDERS)
SOCIALACCOUNT_ADAPTER = "sourcegraph_site.accounts.providers.SocialAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False  # an identity is provider + subject, never an address
SOCIALACCOUNT_STORE_TOKENS = False
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXIES
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _origin.scheme
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_GET = False
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = PREFIX
ACCOUNT_LOGOUT_REDIRECT_URL = PREFIX
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"

SESSION_COOKIE_NAME = "sourcegraph_session"
SESSION_COOKIE_PATH = PREFIX
SESSION_COOKIE_AGE = 90 * 24 * 3600
SESSION_COOKIE_SECURE = SECURE
CSRF_COOKIE_NAME = "sourcegraph_csrf"
CSRF_COOKIE_PATH = PREFIX
CSRF_COOKIE_SECURE = SECURE
CSRF_HEADER_NAME = "HTTP_X_CSRF_TOKEN"
CSRF_FAILURE_VIEW = "sourcegraph_site.web.errors.csrf_failure"
CSRF_TRUSTED_ORIGINS = [ORIGIN]

# --- Security ----------------------------------------------------------------------------
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if SECURE:
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if TRUSTED_PROXIES else None
# Subdomains and preloading are the domain owner's to decide, and the redirect is the proxy's.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W008", "security.W021"]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

# --- REST --------------------------------------------------------------------------------
REST_FRAMEWORK: dict[str, object] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": [],
    "DEFAULT_SCHEMA_CLASS": "sourcegraph_site.api.schema.OperationSchema",
    "EXCEPTION_HANDLER": "sourcegraph_site.api.errors.handle",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Source Graph",
    "DESCRIPTION": "Search and read code at exactly one Git commit.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
}

# --- Logs --------------------------------------------------------------------------------
LOG_LEVEL = env_text("SOURCEGRAPH_LOG_LEVEL", "INFO").upper()
if LOG_LEVEL not in ("DEBUG", "INFO", "WARNING", "ERROR"):
    raise ImproperlyConfigured("SOURCEGRAPH_LOG_LEVEL must be debug, info, warning or error.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
}
