"""The pages of toolkit.py: the toolkit's own, a login page of Django's, and things to read."""

from django.contrib.auth.views import LoginView
from django.http import JsonResponse
from django.urls import include, path
from oauth2_provider.decorators import protected_resource_metadata
from oauth2_provider.urls import metadata_urlpatterns


@protected_resource_metadata(scopes=["read"], resource_metadata_url=None)
def me(request):
    owner = request.resource_owner
    return JsonResponse({"id": str(owner.pk), "username": owner.username})


@protected_resource_metadata(scopes=["write"], resource_metadata_url=None)
def things(request):
    return JsonResponse({"method": request.method, "text": request.POST.get("text")})


things.csrf_exempt = True

urlpatterns = [
    path("", include((metadata_urlpatterns, "metadata"))),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("login", LoginView.as_view(template_name="login.html")),
    path("me", me),
    path("things", things),
]
