// The listener on libmicrohttpd: this part is the only importer of it.
