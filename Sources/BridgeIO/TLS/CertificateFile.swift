internal import COpenSSL

/// A PEM file of certificates.
nonisolated enum CertificateFile {
    /// The first certificate in it, in DER; nil: there is none that can be read.
    static func first(in path: String) -> [UInt8]? {
        guard let input = unsafe BIO_new_file(path, "r") else { return nil }
        defer { unsafe BIO_free(input) }
        guard let certificate = unsafe PEM_read_bio_X509(input, nil, nil, nil) else { return nil }
        defer { unsafe X509_free(certificate) }
        return unsafe encoding(of: certificate)
    }

    /// A certificate in DER.
    static func encoding(of certificate: OpaquePointer) -> [UInt8]? {
        let count = unsafe i2d_X509(certificate, nil)
        guard count > 0 else { return nil }
        return [UInt8](capacity: Int(count)) { output in
            unsafe output.withUnsafeMutableBufferPointer { buffer, written in
                // It moves the pointer that it is given.
                var place = buffer.baseAddress
                written = unsafe max(0, Int(i2d_X509(certificate, &place)))
            }
        }
    }
}
