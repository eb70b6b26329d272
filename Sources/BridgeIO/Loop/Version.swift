internal import CMicroHTTPD
internal import CUV
