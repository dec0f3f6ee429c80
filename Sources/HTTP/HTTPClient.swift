// The requests of libcurl: this part is the only importer of it.
