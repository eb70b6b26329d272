"""Certificates made by the `openssl` command while the tests run."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class Authority:
    """A certificate authority in a folder of its own."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._count = 0
        self.certificate = folder / "ca.pem"
        self._key = folder / "ca.key"
        subject = ["-subj", "/CN=Test authority"]
        _openssl("req", "-x509", *_KEY, *subject, "-keyout", self._key, "-out", self.certificate)

    def server_context(
        self, *names: str, expired: bool = False, demands_certificate: bool = False
    ) -> ssl.SSLContext:
        """Return a server's TLS settings with a certificate for these names, such as `DNS:localhost`.

        With `demands_certificate` clients need one of this authority.
        """
        certificate, key = self.issue(*names, expired=expired)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if demands_certificate:
            context.load_verify_locations(self.certificate)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def issue(self, *names: str, expired: bool = False) -> tuple[Path, Path]:
        """Return the paths of a certificate for these names, and of its key."""
        self._count += 1
        stem = self._folder / f"server{self._count}"
        key, request, certificate = (stem.with_suffix(suffix) for suffix in (".key", ".csr", ".pem"))
        extensions = stem.with_suffix(".ext")
        extensions.write_text(f"subjectAltName={','.join(names)}\n")
        _openssl("req", "-new", *_KEY, "-subj", "/CN=server", "-keyout", key, "-out", request)
        authority = ["-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial"]
        # A negative number of days ends the validity before it began: expired from the first moment.
        days = ["-days", "-1" if expired else "30"]
        _openssl(
            "x509", "-req", *authority, *days, "-extfile", extensions, "-in", request, "-out", certificate
        )
        return certificate, key


def encrypt_key(key: Path, password: str, *form: str) -> Path:
    """Return the path of the key behind a password; `form` are further options of `openssl pkcs8`."""
    encrypted = key.with_suffix(f".{len(form)}.encrypted")
    _openssl("pkcs8", "-topk8", *form, "-in", key, "-out", encrypted, "-passout", f"pass:{password}")
    return encrypted


def self_signed_context(folder: Path, *names: str) -> ssl.SSLContext:
    """Return a server's TLS settings with a certificate that nobody vouches for."""
    key, certificate = folder / "self-signed.key", folder / "self-signed.pem"
    names_extension = ["-addext", f"subjectAltName={','.join(names)}"]
    _openssl(
        "req", "-x509", *_KEY, "-subj", "/CN=self", *names_extension, "-keyout", key, "-out", certificate
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


def _openssl(*arguments: str | Path) -> None:
    done = subprocess.run(
        ["openssl", *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, f"openssl {arguments[0]}: {done.stderr}"
