# Shared by the scripts that build and run the image without a Docker engine: sourced after lib.sh.
# shellcheck shell=bash

# Base images and built images, about 1 GB; kept from one run to the next.
lab=${WSBRIDGE_IMAGE_LAB:-$PWD/.cache/image}
# shellcheck disable=SC2034  # used by the scripts that source this
image_packages=(
    "buildah: builds the image without a Docker engine"
    "podman: runs it"
    "runc: starts its processes"
    "debootstrap: makes the base image from Debian's packages"
    "iproute2: gives the tests a network of their own"
)
store=(--root "$lab/store" --runroot "$lab/run" --storage-driver overlay)

in_store() { buildah "${store[@]}" inspect --type image "$1" >/dev/null 2>&1; }

# What podman says about a missing systemd is of no use here.
podman_() {
    podman "${store[@]}" --cgroup-manager cgroupfs --runtime "$(command -v runc)" "$@" 2> >(grep --line-buffered -vE 'systemd|CNI config' >&2)
}
