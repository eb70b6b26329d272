# The program, its C libraries and the roots that TLS needs, on a small Debian.
#
#   docker build --tag wsbridge .
#   docker run --rm -p 127.0.0.1:8080:8080 -e WSBRIDGE_TOKEN -e WSBRIDGE_UPSTREAM=wss://example.org/feed wsbridge

FROM swift:6.3-bookworm AS build
# Versions are not pinned: what is wanted is Debian's newest security fix for each.
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        libcurl4-openssl-dev \
        libmicrohttpd-dev \
        libmnl-dev \
        libsqlite3-dev \
        libssl-dev \
        libuv1-dev \
        libyaml-dev \
        pkg-config \
        zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY . .
# What is only linked for Debian 12: relocations in a sixteenth of their room, equal functions once, and of C++'s library
# what Swift's needs alone (in a folder that has no shared one), so that an idle process takes two megabytes less.
# scripts/bench measures the same.
RUN mkdir /linked-in \
    && ln -s "$(clang -print-file-name=libstdc++.a)" /linked-in \
    && swift build --no-color-diagnostics --configuration release --static-swift-stdlib --product wsbridge \
        -Xswiftc -use-ld=lld -Xlinker -z -Xlinker pack-relative-relocs -Xlinker --icf=safe -Xlinker -L/linked-in \
    && install -D --strip .build/release/wsbridge /out/wsbridge \
    && swift --version >/out/swift-version 2>&1 \
    && dpkg-query --show --showformat '${Version}' libstdc++-12-dev >/out/libstdc++-version

FROM debian:bookworm-slim AS runtime
# hadolint ignore=DL3008
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
        ca-certificates \
        libcurl4 \
        libmicrohttpd12 \
        libmnl0 \
        libsqlite3-0 \
        libssl3 \
        libuv1 \
        libyaml-0-2 \
        zlib1g \
    && rm -rf /var/lib/apt/lists/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log \
    && groupadd --gid 10001 wsbridge \
    && useradd --uid 10001 --gid wsbridge --no-log-init --no-create-home --home-dir /nonexistent \
        --shell /usr/sbin/nologin wsbridge \
    # For a volume, which then belongs to that user, too.
    && install --directory --owner wsbridge --group wsbridge --mode 700 /var/lib/wsbridge
COPY --from=build /out/wsbridge /usr/local/bin/wsbridge

# What is inside, counted where everything is.
FROM runtime AS inventory
ARG VERSION=unknown
ARG REVISION=unknown
COPY --from=build /out/swift-version /out/libstdc++-version /
COPY scripts/sbom /sbom
RUN /sbom "${VERSION}" "${REVISION}" /swift-version /libstdc++-version >/wsbridge.cdx.json

FROM runtime
COPY --from=inventory /wsbridge.cdx.json /usr/share/doc/wsbridge/wsbridge.cdx.json

ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="wsbridge" \
      org.opencontainers.image.description="Keeps a WebSocket alive and lets everything else use it over plain HTTP" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="docker.io/library/debian:bookworm-slim"

# All interfaces of the container, so it starts only with a token (or WSBRIDGE_ALLOW_ANONYMOUS=true).
ENV WSBRIDGE_LISTEN=:8080
EXPOSE 8080
USER 10001:10001
WORKDIR /
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=5s --retries=3 CMD ["wsbridge", "health"]
ENTRYPOINT ["wsbridge"]
CMD ["serve"]
